#include <fmt/format.h>
#include <lessons/01_half/show.h>
#include <tinymp/numeric/half.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {

void show_bits(Lab& lab) {
  lab.say("        number   s eeeee ffffffffff   as a half      relative error");
  for (const float x : {1.0f, 0.1f, -2.0f / 3, 2049.0f, 2051.0f, 65504.0f, 65519.0f, 65520.0f, 0x1p-14f,
                        0x1p-24f, 0x1p-25f, 0x1.002p-25f}) {
    const half h(x);
    const float back = static_cast<float>(h);
    const float error = std::isinf(back) ? back : (back - x) / x;
    lab.say(fmt::format("{:>14.8g}   {}   {:<12.8g}   {:.2g}", x, to_bit_string(h), back, error));
  }
}

void show_rounding(Lab& lab, const char* what, const Tensor& tensor) {
  double values = 0, flushed = 0, subnormal = 0, error = 0;
  for (const float x : tensor.to_floats()) {
    if (x == 0) continue;
    const float back = static_cast<float>(half(x));
    const bool normal = std::abs(x) >= 0x1p-14f;
    values += 1;
    flushed += back == 0;
    subnormal += back != 0 && !normal;
    if (normal) error = std::max(error, static_cast<double>(std::abs(back - x) / std::abs(x)));
  }
  lab.say(
      fmt::format("{:<10} {:>6} not zero: {:4.1f} % become zero, {:4.1f} % subnormal; relative error of the "
                  "rest at most {:.2g}",
                  what, values, 100 * flushed / values, 100 * subnormal / values, error));
}

}  // namespace tinymp::lab
