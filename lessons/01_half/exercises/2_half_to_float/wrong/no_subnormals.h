// rejected: loses the subnormals
TINYMP_HD constexpr float float_from_half_bits(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0b1'00000'0000000000u) << 16;
  const std::uint32_t exponent = (bits & 0b0'11111'0000000000u) >> 10;
  const std::uint32_t fraction = bits & 0b0'00000'1111111111u;
  if (exponent == 31 && fraction != 0) return std::bit_cast<float>(0x7fc0'0000u);
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f80'0000u);
  if (exponent == 0) return std::bit_cast<float>(sign);
  return std::bit_cast<float>(sign | ((exponent + (127 - 15)) << 23) | (fraction << 13));
}
