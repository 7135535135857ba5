#include <fmt/format.h>
#include <lessons/02_matmul/matmul.h>
#include <lessons/02_matmul/show.h>
#include <tinymp/base/rng.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

using kernels::Trans;
namespace emu = kernels::emu;

constexpr int size = 64;  // M, N and K of the product that is shown

/// A product, and what it should be.
struct Product {
  Tensor a, b;
  std::vector<double> exact, allowed;  // allowed: one rounding to FP16, and one to FP32 for each term

  Product() {
    Rng rng(2);
    const auto draw = [&rng] {
      std::vector<float> values(std::size_t{size} * size);
      for (float& x : values) x = rng.uniform(-1.0f, 1.0f);
      return Tensor::from({size, size}, values, DType::f16);
    };
    a = draw();
    b = draw();
    const std::vector<double> left = a.to_doubles(), right = b.to_doubles();
    for (std::size_t m = 0; m < size; ++m) {
      for (std::size_t n = 0; n < size; ++n) {
        double sum = 0, terms = 0;
        for (std::size_t k = 0; k < size; ++k) {
          const double term = left[m * size + k] * right[k * size + n];
          sum += term;
          terms += std::abs(term);
        }
        exact.push_back(sum);
        allowed.push_back(0x1p-11 * std::abs(sum) + size * 0x1p-24 * terms);
      }
    }
  }

  /// The error of each element, in parts of what is allowed. NaN for NaN.
  std::vector<double> errors(Kernel kernel) const {
    const Tensor c({size, size}, DType::f16);
    multiply(kernel, a, Trans::no, b, Trans::no, c);
    std::vector<double> errors = c.to_doubles();
    for (std::size_t i = 0; i < errors.size(); ++i) errors[i] = std::abs(errors[i] - exact[i]) / allowed[i];
    return errors;
  }
  int wrong(Kernel kernel) const {
    return static_cast<int>(std::ranges::count_if(errors(kernel), [](double e) { return !(e <= 1); }));
  }
};

const Product& product() {
  static const Product product;
  return product;
}

/// The number of multiply-adds that use an element of a, and one of b, after one fetch from global memory.
struct Step {
  const char* name;
  Kernel kernel;
  int a_serves, b_serves;
  const char* what;
};
constexpr Step steps[] = {
    {"naive", emu::gemm_naive, 1, 1, "a thread for each element of c"},
    {"tiled", emu::gemm_tiled, 16, 16, "256 threads share 16x16 tiles of a and b"},
    {"wmma-naive", emu::gemm_wmma_naive, 16, 16, "a warp, and 4096 multiply-adds in one call"},
    {"lesson 02", emu::matmul_with_barrier, 64, 16, "4 warps share 16 rows of a"},
    {"wmma-tiled", emu::gemm_wmma_tiled, 128, 128, "8 warps share 128x32 of a and 32x128 of b"},
};

/// How many elements of the product a kernel gets wrong, by the order of threads.
struct Wrong {
  int forward, reverse, shuffled;

  explicit Wrong(Kernel kernel)
      : forward(in(ThreadOrder::forward, kernel)),
        reverse(in(ThreadOrder::reverse, kernel)),
        shuffled(in(ThreadOrder::shuffled, kernel)) {}

 private:
  static int in(ThreadOrder order, Kernel kernel) {
    use_order(order);
    clear_shared_memory(kernel);
    return product().wrong(kernel);
  }
};

std::string verdict_on(int wrong) {
  return wrong == 0 ? "right" : fmt::format("{} of {} wrong", wrong, size * size);
}

}  // namespace

void use_order(ThreadOrder order) { emu::machine::set_options({.order = order}); }

void clear_shared_memory(Kernel kernel) {
  constexpr int longest_row = 1024;
  const Tensor zeros = Tensor::from({longest_row, 16}, std::vector<float>(longest_row * 16), DType::f16);
  const Tensor c({16, 16}, DType::f16);
  multiply(kernel, zeros, Trans::yes, zeros, Trans::no, c);
}

bool show_ladder(Lab& lab) {
  lab.say(fmt::format(
      "\nOne product, {0}x{0}x{0} in FP16, on the CPU; errors in parts of what rounding allows, against "
      "float64\n",
      size));
  lab.say(fmt::format("{:<13}{:<45}{:<23}{}", "", "", "loads a multiply-add", "largest error"));
  use_order(ThreadOrder::forward);
  bool agree = true;
  for (const Step& step : steps) {
    const double error = largest(product().errors(step.kernel)),
                 loads = 1.0 / step.a_serves + 1.0 / step.b_serves;
    agree = agree && error <= 1;
    lab.say(fmt::format("{:<13}{:<45}{:<23.4g}{:.2f}", step.name, step.what, loads, error));
  }
  return agree;
}

bool show_orders(Lab& lab) {
  lab.say("\nThe kernel of this lesson, with its barrier and without, in three orders of threads\n");
  lab.say(fmt::format("{:<20}{:<21}{:<21}{}", "", "forward", "reverse", "shuffled"));
  const Wrong with(emu::matmul_with_barrier), without(emu::matmul_without_barrier);
  for (const auto& [name, wrong] : {std::pair{"with its barrier", with}, std::pair{"without", without}}) {
    lab.say(fmt::format("{:<20}{:<21}{:<21}{}", name, verdict_on(wrong.forward), verdict_on(wrong.reverse),
                        verdict_on(wrong.shuffled)));
  }
  lab.say("\nThe order decides, so a barrier is missing. Who does not wait for whom, and where?");
  return with.forward + with.reverse + with.shuffled == 0 && without.forward > 0 && without.reverse == 0 &&
         without.shuffled > 0;
}

}  // namespace tinymp::lab
