#include <fmt/format.h>
#include <lessons/lab/classroom/question.h>
#include <lessons/lab/classroom/small_format.h>
#include <cmath>

// Questions about formats: 1, 3, 5 and 8.
namespace tinymp::classroom {

Question format_question(Draw draw) {
  const int exponents[] = {3, 4, 6};
  const SmallFormat format{exponents[draw.between(0, 2)], draw.between(3, 8)};
  int tenths = draw.between(1, 29);
  if (tenths % 5 == 0) ++tenths;  // multiples of 0.5 have short fractions
  const double x = tenths / 10.0;
  Question asked{
      .text = fmt::format("A format has {}; else it is made like FP16: bias {}, subnormals, infinity, NaN.\n"
                          "What does {} become, rounded to the nearest (sign, exponent, fraction in bits)?\n"
                          "Which is its largest finite number, and which its smallest above zero?\n"
                          "Five words: SIGN EXPONENT FRACTION LARGEST SMALLEST",
                          format.name(), format.bias(), x)};
  add_bits(asked.answers, format.fields(format.rounded(x)));
  asked.answers.push_back(real(format.largest()));
  asked.answers.push_back(real(format.smallest()));
  return asked;
}

Question sum_question(Draw draw) {
  const int bits = draw.between(5, 9), chunk = 4 * draw.between(3, 7),
            chunks = draw.between(2, 5) * (2 << bits) / 4 + draw.between(1, 7);
  const auto ends_at = [&](double term) {
    double sum = 0;
    for (double next = rounded_to(term, bits); next != sum; next = rounded_to(sum + term, bits)) sum = next;
    return sum;
  };
  double of_chunk = 0, sum = 0;
  for (int i = 0; i < chunk; ++i) of_chunk = rounded_to(of_chunk + 1, bits);
  for (int i = 0; i < chunks; ++i) sum = rounded_to(sum + of_chunk, bits);
  return {.text = fmt::format(
              "A format has {} fraction bits (and as many exponent bits as you like).\n"
              "Ones are added up in it, one after the other; each sum is rounded to the nearest, ties to "
              "even.\nWhere does the sum stop? Then {} ones are summed in chunks of {}: each chunk in this "
              "format,\nand the sums of the {} chunks, one after the other, in this format too. What comes "
              "out?\nTwo words: STOPS CHUNKED",
              bits, chunk * chunks, chunk, chunks),
          .answers = {real(ends_at(1)), real(sum)}};
}

Question update_question(Draw draw) {
  const int bits = draw.between(4, 8), exponent = draw.between(-3, 3);
  const double unit = std::ldexp(1.0, exponent - bits);
  const double weight = std::ldexp(1.0, exponent) + draw.between(1, (1 << bits) - 1) * unit;
  int power = exponent - bits - 8;
  while (rounded_to(weight - std::ldexp(1.0, power), bits) == weight) ++power;
  return {.text = fmt::format(
              "A weight of {} is kept in a format with {} fraction bits. An update of 2^k is subtracted,\n"
              "and the difference rounded to the nearest, ties to even.\n"
              "What is the smallest k at which the weight moves, and where does it go then?\n"
              "Two words: K WEIGHT",
              weight, bits),
          .answers = {whole(power), real(rounded_to(weight - std::ldexp(1.0, power), bits))}};
}

Question exponential_question(Draw draw) {
  const SmallFormat format{draw.between(3, 6), draw.between(3, 9)};
  const int terms = draw.between(2, 9);
  constexpr double e = 2.718281828459045;
  int above = 0, below = 0, side = 0;
  for (double y = 1; std::isfinite(format.rounded(y)); y *= e) ++above;
  for (double y = 1; format.rounded(y) != 0; y /= e) ++below;
  while (std::isfinite(format.rounded(terms * (side + 1.0) * (side + 1.0)))) ++side;
  return {
      .text = fmt::format(
          "A format has {}, made like FP16 (bias {}). Results are computed exactly, then rounded to it.\n"
          "What is the smallest whole n whose exp(n) is infinite, and the smallest whole m whose exp(-m)\n"
          "is zero? And the largest whole x for which x^2, {} times, adds up to something finite?\n"
          "Three words: N M X",
          format.name(), format.bias(), terms),
      .answers = {whole(above), whole(below), whole(side)}};
}

}  // namespace tinymp::classroom
