// Exercise 13.1: E5M2 from float.
//
// Return the E5M2 number nearest to x, as its 8 bits. If two are equally near, return the one with a last bit of 0
// ("nearest even").
//
//     float   s eeeeeeee fffffffffffffffffffffff      E5M2   s eeeee ff
//             1    8               23     bits               1   5    2  bits
//             bias 127                                       bias 15
//
// The largest number is 57344, 0 11110 11. What rounds to more (61440 and above, infinity too) becomes
//
//     Overflow::infinity     infinity, 0 11111 00: training without saturation, where a loss scaler looks for it
//     Overflow::saturate     57344
//
// with the sign of x. NaN of any kind is 0x7e in both. Below 2^-14 there are subnormals, 2^-16 apart. 2^-17, half of the
// smallest, and everything below becomes 0. The sign stays, even that of 0.
//
// Round once. A half has the same exponent, and its upper byte looks like E5M2; but a number that is rounded to a half
// first may be rounded to a middle, and then to the wrong side.
//
// Write the bits yourself: float8_e5m2, small_float and the helpers of its codec are not there to be called. The 8 bits are
// compared, all of them, in both modes.
//
// On the CPU every array that becomes E5M2 to nearest even comes through here.
TINYMP_INLINE std::uint8_t e5m2_from_float(float x, [[maybe_unused]] Overflow overflow) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t sign = bits >> 24 & 0b1'00000'00;
  // TODO: exponent and fraction of x, and from them those of E5M2.
  return static_cast<std::uint8_t>(sign);
}
