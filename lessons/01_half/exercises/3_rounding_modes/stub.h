// Exercise 1.3: rounding modes.
//
// A number is given as a magnitude in binary and a sign. Its magnitude loses the last `drop` bits, 1 to 31 of
// them. The number lies between two numbers without such bits, or is one of them. Return the magnitude of the
// one that it is rounded to: magnitude >> drop, or that plus 1.
//
//     nearest_even   the nearer of the two; from the middle the one with a last bit of 0
//     toward_zero
//     up             toward +infinity
//     down           toward -infinity
//     stochastic     at random. All 2^32 values of `random` are equally likely; use its first `drop` bits.
//                    They have 2^drop values. As many of these values round away from zero as the lost bits
//                    say, read as an integer. So the mean of many roundings is the number itself.
//
// A number that loses only zeros stays as it is in every mode. (A carry is fine: 111b without one bit may
// become 100b. The conversions to bfloat16 and FP8 call this with exponent and fraction as one integer.)
TINYMP_HD constexpr std::uint32_t without_last_bits(std::uint32_t magnitude, int drop,
                                                    [[maybe_unused]] bool negative,
                                                    [[maybe_unused]] Rounding mode = Rounding::nearest_even,
                                                    [[maybe_unused]] std::uint32_t random = 0) {
  // TODO: look at the bits that are lost, and at the mode.
  return magnitude >> drop;
}
