#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/half.h>
#include <cmath>

namespace tinymp::lab {
namespace {

template <class T>
void show_format(Lab& lab, const char* name, int fraction_bits) {
  using Limits = std::numeric_limits<T>;
  int finite = 0, above_one = 0;
  for (int code = 0; code < 1 << (8 * sizeof(T)); ++code) {
    const T x = T::from_bits(static_cast<decltype(T().bits())>(code));
    finite += isfinite(x);
    above_one += static_cast<float>(x) >= 1 && static_cast<float>(x) < 2;
  }
  const auto number = [](T x) { return static_cast<double>(static_cast<float>(x)); };
  const double smallest = number(Limits::denorm_min());
  lab.say(fmt::format("  {:<6} {:>8} {:>9g} {:>16} {:>11} {:>9} {:>13}", name, fraction_bits,
                      number(Limits::max()), fmt::format("2^{}", std::ilogb(number(Limits::min()))),
                      fmt::format("2^{}", std::ilogb(smallest)), finite, above_one));
}

float in_e4m3(float x) { return static_cast<float>(float8_e4m3(x, Overflow::infinity)); }
float in_e5m2(float x) { return static_cast<float>(float8_e5m2(x, Overflow::infinity)); }
float in_f16(float x) { return static_cast<float>(half(x)); }

/// Root of the mean square of the error of many dot products of `terms` numbers, in % of that of the dot products. Only the
/// operands are rounded: the sums are doubles.
double error_of_products(float (*rounded)(float), int terms) {
  Rng rng(13);
  double error = 0, all = 0;
  for (int i = 0; i < 2000; ++i) {
    double exact = 0, narrow = 0;
    for (int k = 0; k < terms; ++k) {
      const float a = rng.uniform(-1, 1);
      const float b = rng.uniform(-1, 1);
      exact += static_cast<double>(a) * static_cast<double>(b);
      narrow += static_cast<double>(rounded(a)) * static_cast<double>(rounded(b));
    }
    error += (narrow - exact) * (narrow - exact);
    all += exact * exact;
  }
  return 100 * std::sqrt(error / all);
}

}  // namespace

void show_formats(Lab& lab) {
  lab.say("\n         fraction  largest  smallest normal  subnormal  numbers  from 1 to 2");
  show_format<half>(lab, "FP16", 10);
  show_format<float8_e5m2>(lab, "E5M2", 2);
  show_format<float8_e4m3>(lab, "E4M3", 3);

  lab.say("\nOperands are rounded, sums are exact   FP16    E4M3    E5M2");
  lab.say(fmt::format("  0.3 becomes {:>31.5g} {:>7.5g} {:>7.5g}", in_f16(0.3f), in_e4m3(0.3f),
                      in_e5m2(0.3f)));
  lab.say(fmt::format("  0.003 becomes {:>29.4g} {:>7.4g} {:>7.4g}", in_f16(0.003f), in_e4m3(0.003f),
                      in_e5m2(0.003f)));
  for (const int terms : {1, 1024}) {
    const double f16 = error_of_products(in_f16, terms), e4m3 = error_of_products(in_e4m3, terms),
                 e5m2 = error_of_products(in_e5m2, terms);
    lab.say(fmt::format("  {:<33} {:>7} % {:>5} % {:>5} %",
                        terms == 1 ? "error of one product" : fmt::format("error of a sum of {}", terms),
                        fixed(f16, 3), fixed(e4m3, 1), fixed(e5m2, 1)));
    lab.number(fmt::format("error of {} products, FP16 (%)", terms), f16);
    lab.number(fmt::format("error of {} products, E4M3 (%)", terms), e4m3);
    lab.number(fmt::format("error of {} products, E5M2 (%)", terms), e5m2);
  }
}

}  // namespace tinymp::lab
