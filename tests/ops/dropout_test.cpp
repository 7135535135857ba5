#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/op_cases.h>
#include <cmath>
#include <limits>

/// Which values dropout keeps, and how often. (That it keeps the same ones on every device and for any number
/// of threads: cuda/ops_test.cpp, kernels/rows_test.cpp.)
namespace tinymp::test {
namespace {

Tensor ones(std::int64_t n, DType dtype = DType::f32) {
  return Tensor::from({n}, std::vector<float>(static_cast<std::size_t>(n), 1), dtype);
}
std::vector<bool> mask(float p, std::uint64_t seed, double step, std::int64_t n = 20000) {
  std::vector<bool> kept;
  for (const float v : dropout(ones(n), p, seed, step_of_mask(step, Device::cpu)).to_floats())
    kept.push_back(v != 0);
  return kept;
}
/// How far a count of n draws may lie from its mean: 5 deviations, which one run in two million exceeds.
double binomial_bound(double n, double p) { return 5 * std::sqrt(n * p * (1 - p)); }

TEST_CASE("dropout keeps a share of 1 - p, and divides it by that") {
  constexpr std::int64_t n = 100000;
  for (const float p : {0.0f, 0.1f, 0.5f, 0.9f}) {
    const double keep = 1 - static_cast<double>(p);
    double kept = 0, sum = 0;
    for (const float v : dropout(ones(n), p, 1, step_of_mask(0, Device::cpu)).to_floats()) {
      CHECK((v == 0 || v == static_cast<float>(1 / keep)));
      kept += v != 0;
      sum += static_cast<double>(v);
    }
    INFO("p " << p << ", kept " << kept);
    CHECK(std::fabs(kept - n * keep) <= binomial_bound(n, keep));
    CHECK(sum / n == Approx(1).epsilon(0.05));  // what the next layer sees on average
  }
}

TEST_CASE("dropout: the same seed and step give the same mask, another seed or step another one") {
  const std::vector<bool> first = mask(0.5f, 7, 3);
  CHECK(mask(0.5f, 7, 3) == first);
  for (const auto& [seed, step] : {std::pair(7u, 4.0), {7u, 2.0}, {8u, 3.0}, {3u, 7.0}}) {
    const std::vector<bool> other = mask(0.5f, seed, step);
    double agree = 0;
    for (std::size_t i = 0; i < first.size(); ++i) agree += first[i] == other[i];
    INFO("seed " << seed << ", step " << step);
    CHECK(std::fabs(agree - 10000) <= binomial_bound(20000, 0.5));  // as two coins do
  }
}

TEST_CASE("dropout: neighbours are dropped independently, and a larger p drops more of the same") {
  const std::vector<bool> kept = mask(0.5f, 9, 1), fewer = mask(0.7f, 9, 1);
  double pairs = 0;
  for (std::size_t i = 0; i + 1 < kept.size(); ++i) pairs += kept[i] && kept[i + 1];
  CHECK(std::fabs(pairs - 5000) <= binomial_bound(20000, 0.25) * 2);  // a value is in two pairs
  for (std::size_t i = 0; i < kept.size(); ++i) CHECK((kept[i] || !fewer[i]));
}

TEST_CASE(
    "backward of dropout regenerates the mask of forward, and a step that has gone on changes nothing") {
  for (const DType dtype : {DType::f16, DType::bf16, DType::f32}) {
    const Tensor x = ones(5000, dtype).set_requires_grad(true), step = step_of_mask(12, Device::cpu);
    Tape tape;
    const Tensor y = dropout(x, 0.25f, 3, step);
    tape.backward(sum(y));
    CHECK(x.grad().to_floats() == y.to_floats());
    CHECK(x.grad().dtype() == dtype);
  }
}

TEST_CASE("dropout: what is dropped is 0 whatever it was, and its error is, too") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor x = Tensor::from({1000}, std::vector<float>(1000, nan)), step = step_of_mask(0, Device::cpu);
  const std::vector<bool> kept = mask(0.5f, 2, 0, 1000);
  const std::vector<float> y = dropout(x, 0.5f, 2, step).to_floats();
  for (std::size_t i = 0; i < y.size(); ++i) CHECK(std::isnan(y[i]) == kept[i]);
}

TEST_CASE("dropout refuses what is no probability, and a step that is no f64 scalar") {
  const Tensor x = ones(3), step = step_of_mask(0, Device::cpu);
  for (const float p : {1.0f, -0.1f, 2.0f, std::numeric_limits<float>::quiet_NaN()})
    CHECK_SAYS("dropout: p is", dropout(x, p, 1, step));
  CHECK_SAYS("dropout: the step is f32(3); it is one value in f64", dropout(x, 0.5f, 1, x));
}

}  // namespace
}  // namespace tinymp::test
