// rejected: one lot too many
TINYMP_HD constexpr std::uint32_t without_last_bits(std::uint32_t magnitude, int drop, bool negative,
                                                    Rounding mode = Rounding::nearest_even,
                                                    std::uint32_t random = 0) {
  const std::uint32_t kept = magnitude >> drop, rest = magnitude & ((1u << drop) - 1);
  const std::uint32_t halfway = 1u << (drop - 1);
  switch (mode) {
    case Rounding::nearest_even:
      return kept + (rest > halfway || (rest == halfway && kept % 2 == 1) ? 1 : 0);
    case Rounding::toward_zero:
      return kept;
    case Rounding::up:
      return kept + (rest > 0 && !negative ? 1 : 0);
    case Rounding::down:
      return kept + (rest > 0 && negative ? 1 : 0);
    default:
      return kept + ((random & ((1u << drop) - 1)) <= rest ? 1 : 0);
  }
}
