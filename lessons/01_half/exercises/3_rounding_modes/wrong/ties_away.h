// rejected: always takes the middle away from zero
TINYMP_HD constexpr std::uint32_t without_last_bits(std::uint32_t magnitude, int drop, bool negative,
                                                    Rounding mode = Rounding::nearest_even,
                                                    std::uint32_t random = 0) {
  const std::uint32_t kept = magnitude >> drop, rest = magnitude & ((1u << drop) - 1);
  const std::uint32_t halfway = 1u << (drop - 1);
  switch (mode) {
    case Rounding::nearest_even:
      return kept + (rest >= halfway ? 1 : 0);
    case Rounding::toward_zero:
      return kept;
    case Rounding::up:
      return kept + (rest > 0 && !negative ? 1 : 0);
    case Rounding::down:
      return kept + (rest > 0 && negative ? 1 : 0);
    default:
      return (magnitude + (random & ((1u << drop) - 1))) >> drop;
  }
}
