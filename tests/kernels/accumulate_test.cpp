#include <kernels/numerics/accumulate.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <algorithm>
#include <cmath>
#include <vector>

/// Long sums in FP32, in FP16, and in chunks.
namespace tinymp::test {
namespace {

constexpr Accumulation f32_chain{}, f16_chain{.format = DType::f16},
    f16_chunks{.format = DType::f16, .chunk = 64};

/// The largest relative error over some draws of K numbers from U(0,1), against the sum in double.
double largest_error(const Accumulation& how) {
  constexpr std::size_t K = 16384;
  double largest = 0;
  for (std::uint64_t seed = 0; seed < 5; ++seed) {
    Rng rng(seed);
    std::vector<float> a(K), b(K);
    double exact = 0;
    for (std::size_t k = 0; k < K; ++k) {
      a[k] = static_cast<float>(half(rng.uniform(0, 1)));
      b[k] = static_cast<float>(half(rng.uniform(0, 1)));
      exact += static_cast<double>(a[k]) * static_cast<double>(b[k]);
    }
    const auto got = static_cast<double>(kernels::dot(a.data(), b.data(), static_cast<std::int64_t>(K), how));
    largest = std::max(largest, std::fabs(got - exact) / exact);
  }
  return largest;
}

TEST_CASE(
    "accumulate: U(0,1), K = 16384: FP16 loses half of the sum, FP32 and chunks of 64 next to nothing") {
  // Measured: 0.500, 2.5e-6 and 0.0022.
  const double f16 = largest_error(f16_chain), f32 = largest_error(f32_chain),
               chunked = largest_error(f16_chunks);
  INFO("FP16 " << f16 << ", FP32 " << f32 << ", FP16 in chunks of 64 " << chunked);
  CHECK(f16 >= 0.40);
  CHECK(f16 < 0.60);
  CHECK(f32 <= 1e-5);
  CHECK(chunked <= 0.005);
}

TEST_CASE("accumulate: the chain is rounded at each step") {
  const std::vector<float> ones(5000, 1.0f);
  const auto count = [&](const Accumulation& how) {
    return kernels::dot(ones.data(), ones.data(), 5000, how);
  };
  CHECK(count(f32_chain) == 5000);
  CHECK(count(f16_chain) == 2048);                           // 2048 + 1 is a tie and goes to 2048
  CHECK(count(f16_chunks) == 5000);                          // 78 chunks of 64 and one of 8
  CHECK(count({.format = DType::f16, .chunk = 1}) == 2048);  // no better than none
  CHECK(count({.format = DType::f16, .chunk = 5000}) == 2048);
  CHECK(count({.format = DType::f16, .chunk = 9999}) == 2048);
  CHECK(kernels::dot(ones.data(), ones.data(), 0, f16_chunks) == 0);
  const std::vector<float> a = {1, 0x1p-12f}, b = {1, 0x1p-12f};
  CHECK(kernels::dot(a.data(), b.data(), 2, f32_chain) == 1);  // the product is not rounded, the sum is
  const std::vector<float> wide = {0x1.002p0f, -1}, same = {0x1.002p0f, 0x1.004p0f};
  CHECK(kernels::dot(wide.data(), same.data(), 2, f32_chain) == 0x1p-22f);
}

TEST_CASE("accumulate: wrong use is refused") {
  const float one = 1;
  CHECK_SAYS("sums are kept in f32 or f16, not f64", kernels::dot(&one, &one, 1, {.format = DType::f64}));
  CHECK_SAYS("a chunk of -1", kernels::dot(&one, &one, 1, {.chunk = -1}));
}

}  // namespace
}  // namespace tinymp::test
