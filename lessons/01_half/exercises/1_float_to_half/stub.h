// Exercise 1.1: float to half.
//
// Return the half nearest to x, as its 16 bits. If two are equally near, return the one with a last bit of 0
// ("nearest even").
//
//     float   s eeeeeeee fffffffffffffffffffffff      half   s eeeee ffffffffff
//             1    8               23     bits               1   5       10     bits
//             bias 127                                       bias 15
//
// Too large for a half (65520 and above): infinity. NaN of any kind: 0x7e00. Below 2^-14 a half has
// subnormals, 2^-24 apart. 2^-25, half of the smallest, and everything below becomes 0. The sign stays, even
// that of 0.
TINYMP_HD constexpr std::uint16_t half_bits_from_float(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = (bits >> 16) & 0b1'00000'0000000000;
  // TODO: exponent and fraction of x, and from them those of the half.
  return static_cast<std::uint16_t>(sign);
}
