// Exercise 1.1: float to half.
//
// Give the half nearest to x, as its 16 bits; of two equally near the one whose last bit is 0 ("nearest
// even").
//
//     float   s eeeeeeee fffffffffffffffffffffff      half   s eeeee ffffffffff
//             1    8               23     bits               1   5       10     bits
//             bias 127                                       bias 15
//
// Too large for a half (65520 and above): infinity. NaN of any kind: 0x7e00. Below 2^-14 a half has
// subnormals, 2^-24 apart; half of the smallest, 2^-25, and all below it is 0. The sign stays, that of 0 too.
TINYMP_HD constexpr std::uint16_t half_bits_from_float(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0b1'00000'0000000000;
  // TODO: exponent and fraction of x, and from them those of the half.
  return static_cast<std::uint16_t>(sign);
}
