// rejected: a half that is not the nearest
TINYMP_HD constexpr std::uint16_t half_bits_from_float(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0b1'00000'0000000000;
  const std::uint32_t magnitude = bits & 0x7fff'ffff;
  const std::uint32_t exponent = magnitude >> 23;
  const std::uint32_t fraction = magnitude & 0x007f'ffff;
  if (exponent == 255 && fraction != 0) return 0b0'11111'1000000000;
  if (exponent >= 127 + 16) return static_cast<std::uint16_t>(sign | 0b0'11111'0000000000);
  if (exponent < 127 - 25) return static_cast<std::uint16_t>(sign);
  std::uint32_t aligned = magnitude - ((127 - 15) << 23);
  std::uint32_t drop = 13;
  if (exponent < 127 - 14) {
    aligned = fraction | (1u << 23);
    drop = 12 + (127 - 14) - exponent;
  }
  std::uint32_t kept = aligned >> drop;
  const std::uint32_t rest = aligned & ((1u << drop) - 1);
  const std::uint32_t halfway = 1u << (drop - 1);
  if (rest > halfway || (rest == halfway && (kept & 1) == 1)) kept += 1;
  return static_cast<std::uint16_t>(sign | kept);
}
