// Exercise 1.2: half to float.
//
// Return the float with the value of these 16 bits. Every half is a float: nothing is rounded.
//
//     e = 0          (-1)^s * 0.f * 2^-14         zero and the subnormals, 2^-24 apart
//     e = 1 .. 30    (-1)^s * 1.f * 2^(e - 15)    normal numbers
//     e = 31         infinity when f = 0, else NaN (any: it becomes 0x7fc00000)
TINYMP_HD constexpr float float_from_half_bits(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0b1'00000'0000000000u) << 16;
  // TODO: exponent and fraction of the half, and from them those of the float.
  return std::bit_cast<float>(sign);
}
