#include <tinymp/autograd/finite_differences.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>
#include <sstream>

/// check_gradients finds what is wrong, and says where.
namespace tinymp::test {
namespace {

Tensor leaf(const std::vector<double>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  return Tensor::from({n}, std::span<const double>(values)).set_requires_grad(true);
}

/// x^2 with a derivative that is `factor` 2x, but for one entry `more`.
Tensor square(const Tensor& x, double factor, std::size_t entry = 0, double more = 0) {
  std::vector<double> y = x.to_doubles();
  for (double& v : y) v *= v;
  return record("square", {x}, Tensor::from(x.shape(), std::span<const double>(y)),
                [=](const Tensor& dy, const Needs&) {
                  std::vector<double> dx = x.to_doubles();
                  const std::vector<double> d = dy.to_doubles();
                  for (std::size_t i = 0; i < dx.size(); ++i) dx[i] *= 2 * factor * d[i];
                  dx[entry] += more;
                  return std::vector{Tensor::from(x.shape(), std::span<const double>(dx))};
                });
}

TEST_CASE("a right derivative passes, for large and small values") {
  const Tensor x = leaf({0, 1, -2, 100, 1e-6});
  const GradientReport report = check_gradients([&] { return square(x, 1); }, {x});
  INFO(report);
  CHECK(report.error < 1e-9);
  CHECK(report.checked == 5);
}

TEST_CASE("a wrong factor is found to its size") {
  const Tensor x = leaf({1, -2, 3});
  const GradientReport report = check_gradients([&] { return square(x, 1.001); }, {x});
  CHECK(report.error == Approx(1e-3).epsilon(1e-3));
  CHECK(report.from_tape == Approx(1.001 * report.from_differences));
}

TEST_CASE("the worst entry is named: which input, which value") {
  const Tensor x = leaf({1, 2}), z = leaf({1, 2, 3, 4, 5});
  const GradientReport report =
      check_gradients([&] { return add(sum(square(x, 1)), sum(square(z, 1, 3, 0.01))); }, {x, z});
  CHECK(report.input == 1);
  CHECK(report.entry == 3);
  CHECK(report.checked == 7);
  CHECK(report.from_tape - report.from_differences == Approx(0.01).epsilon(1e-3));
  std::ostringstream text;
  text << report;
  CHECK(text.str().find("worst of 7 entries: input 1, entry 3: tape ") == 0);
}

TEST_CASE("a sign that is turned over, a gradient left out and NaN are found") {
  const Tensor x = leaf({1, 2});
  CHECK(check_gradients([&] { return square(x, -1); }, {x}).error > 1);
  CHECK(check_gradients([&] { return square(x, 0); }, {x}).error > 0.9);
  CHECK(std::isinf(check_gradients([&] { return square(x, std::nan("")); }, {x}).error));
  CHECK(std::isinf(
      check_gradients([&] { return square(x, std::numeric_limits<double>::infinity()); }, {x}).error));
}

TEST_CASE("two gradients that have changed places are found: each value has a weight of its own") {
  const Tensor x = leaf({1, 1, 1, 1, 1, 1, 1, 1});
  const auto reversed = [&] {
    return record("reversed", {x}, Tensor::from(x.shape(), std::span<const double>(x.to_doubles())),
                  [](const Tensor& dy, const Needs&) {
                    std::vector<double> d = dy.to_doubles();
                    std::reverse(d.begin(), d.end());
                    return std::vector{Tensor::from(dy.shape(), std::span<const double>(d))};
                  });
  };
  CHECK(check_gradients(reversed, {x}).error > 0.1);
}

TEST_CASE("an input that f does not use has the gradient 0") {
  const Tensor x = leaf({1, 2}), unused = leaf({5});
  const GradientReport report = check_gradients([&] { return square(x, 1); }, {x, unused});
  CHECK(report.error < 1e-9);
  CHECK(report.checked == 3);
}

TEST_CASE("some entries only: evenly spread over the input") {
  std::vector<double> values(1000, 1);
  const Tensor x = leaf(values);
  CHECK(check_gradients([&] { return square(x, 1); }, {x}, {.entries = 10}).checked == 10);
  // 10 of 1000 are 0, 100, ..., 900
  CHECK(check_gradients([&] { return square(x, 1, 500, 1); }, {x}, {.entries = 10}).entry == 500);
  CHECK(check_gradients([&] { return square(x, 1, 501, 1); }, {x}, {.entries = 10}).error < 1e-9);
  CHECK(check_gradients([&] { return square(x, 1); }, {x}, {.entries = 5000}).checked == 1000);
}

TEST_CASE("the inputs are put back, bit for bit, and their gradients forgotten") {
  const std::vector<double> values{0.1, -0.2, 1e10, 1e-10};
  const Tensor x = leaf(values);
  x.set_grad(Tensor::from({4}, std::span<const double>(values)));
  static_cast<void>(check_gradients([&] { return square(x, 1); }, {x}));
  CHECK(x.to_doubles() == values);
  CHECK_FALSE(static_cast<bool>(x.grad()));
  CHECK(Tape::current() == nullptr);
}

TEST_CASE("what cannot be checked is refused") {
  const Tensor x = leaf({1, 2}), data = Tensor::from({1}, std::span<const double>(std::vector<double>{1}));
  const Tensor narrow = Tensor::from({1}, std::vector<float>{1}).set_requires_grad(true);
  const auto f = [&] { return square(x, 1); };
  CHECK_SAYS("check_gradients: there are no inputs", check_gradients(f, {}));
  CHECK_SAYS("check_gradients: input 1 is f32; differences need f64", check_gradients(f, {x, narrow}));
  CHECK_SAYS("check_gradients: input 1 does not require a gradient", check_gradients(f, {x, data}));
  CHECK_SAYS("a step of 0", check_gradients(f, {x}, {.step = 0}));
  CHECK_SAYS("-1 entries", check_gradients(f, {x}, {.entries = -1}));
  CHECK_SAYS("not computed under this tape", check_gradients([&] { return square(data, 1); }, {x}));
}

}  // namespace
}  // namespace tinymp::test
