// Exercise 1.3: rounding modes.
//
// A number, its magnitude in binary and its sign apart, loses the last `drop` bits of its magnitude, 1 to 31
// of them. It then lies between two numbers that have no such bits, or is one. Give the magnitude of the one
// that stands for it: magnitude >> drop, or that and 1.
//
//     nearest_even   the nearer of the two; from the middle the one whose last bit is 0
//     toward_zero
//     up             toward +infinity
//     down           toward -infinity
//     stochastic     by lot. `random` is any of its 2^32 values, each as likely, and its last `drop` bits are
//                    the lot: of their 2^drop values as many lead away from zero as the number is away from
//                    the one nearer to zero. So the mean of many roundings is the number itself.
//
// What lies on a number of the format stays there in every mode. (A carry is no matter: 111b without one bit
// may become 100b. The conversions to bfloat16 and FP8 call this with exponent and fraction as one integer.)
TINYMP_HD constexpr std::uint32_t without_last_bits(std::uint32_t magnitude, int drop,
                                                    [[maybe_unused]] bool negative,
                                                    [[maybe_unused]] Rounding mode = Rounding::nearest_even,
                                                    [[maybe_unused]] std::uint32_t random = 0) {
  // TODO: look at the bits that are lost, and at the mode.
  return magnitude >> drop;
}
