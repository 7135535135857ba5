#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>

/// layer_norm against itself written down in double, gradients by the whole Jacobian; its options, and what
/// it refuses.
namespace tinymp::test {
namespace {

using Values = std::vector<double>;

Tensor filled(Shape shape, float value, DType dtype = DType::f32) {
  return Tensor::from(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), value), dtype);
}
Tensor drawn(Shape shape, std::uint64_t seed, DType dtype) {
  Rng rng(seed);
  Values values(static_cast<std::size_t>(shape.size()));
  for (double& v : values) v = static_cast<double>(rng.uniform(-2, 3));
  return cast(Tensor::from(shape, std::span<const double>(values)), dtype);
}

struct Reference {
  Values y, dx, dgamma, dbeta;
};
/// y_j = gamma_j xhat_j + beta_j,  dxhat_j / dx_i = (one where i = j - 1/n - xhat_i xhat_j / n) / deviation
Reference reference(const Values& x, const Values& gamma, const Values& beta, const Values& dy) {
  const std::size_t n = gamma.size();
  const auto count = static_cast<double>(n);
  Reference r{Values(x.size()), Values(x.size()), Values(n), Values(n)};
  for (std::size_t row = 0; row < x.size(); row += n) {
    double mean = 0, squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
      mean += x[row + i] / count;
      squares += x[row + i] * x[row + i] / count;
    }
    const double deviation = std::sqrt(squares - mean * mean + static_cast<double>(1e-5f));
    Values xhat(n);
    for (std::size_t i = 0; i < n; ++i) {
      xhat[i] = (x[row + i] - mean) / deviation;
      r.y[row + i] = gamma[i] * xhat[i] + beta[i];
      r.dgamma[i] += dy[row + i] * xhat[i];
      r.dbeta[i] += dy[row + i];
    }
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) {
        const double moved = ((i == j) - 1 / count - xhat[i] * xhat[j] / count) / deviation;
        r.dx[row + i] += dy[row + j] * gamma[j] * moved;
      }
    }
  }
  return r;
}

TEST_CASE("layer_norm and its gradients are those of a reference in double") {
  for (const auto& [dtype, tolerance] :
       {std::pair(DType::f64, 1e-11), {DType::f32, 1e-5}, {DType::f16, 4e-3}, {DType::bf16, 3e-2}}) {
    for (const Shape& shape : {Shape{7, 12}, Shape{1, 300}, Shape{2, 3, 2, 9}}) {
      const Shape columns{shape.cols()};
      const Tensor x = drawn(shape, 1, dtype), gamma = drawn(columns, 2, dtype),
                   beta = drawn(columns, 3, dtype), dy = drawn(shape, 4, dtype);
      for (const Tensor& t : {x, gamma, beta}) t.set_requires_grad(true);
      Tape tape;
      const Tensor y = layer_norm(x, gamma, beta);
      tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                           [dy = dy](const Tensor&, const Needs&) { return std::vector{dy}; }));
      const Reference r = reference(x.to_doubles(), gamma.to_doubles(), beta.to_doubles(), dy.to_doubles());
      const auto check = [tolerance = tolerance](const Tensor& got, const Values& expected) {
        const Values values = got.to_doubles();
        REQUIRE(values.size() == expected.size());
        for (std::size_t i = 0; i < values.size(); ++i)
          REQUIRE(std::fabs(values[i] - expected[i]) <= tolerance * std::max(1.0, std::fabs(expected[i])));
      };
      INFO(dtype << shape);
      check(y, r.y);
      check(x.grad(), r.dx);
      check(gamma.grad(), r.dgamma);
      check(beta.grad(), r.dbeta);
    }
  }
}

TEST_CASE("layer_norm keeps its sums as its options say, forward and backward") {
  // 5000 values of 1 and one of 3001 have mean 1.6 and deviation 42; summed in FP16 they have another mean.
  std::vector<float> values(5000, 1);
  values[0] = 3001;
  const auto normalized = [&](const Accumulation& sums) {
    const Tensor x = Tensor::from({1, 5000}, values, DType::f16);
    return layer_norm(x, filled({5000}, 1, DType::f16), filled({5000}, 0, DType::f16), {.sums = sums})
        .to_doubles()[1];
  };
  CHECK(normalized({}) == Approx(-0.6 / 42.42).epsilon(1e-3));
  CHECK(normalized({.format = DType::f16}) != Approx(normalized({})).epsilon(0.1));

  const auto dbeta = [&](const Accumulation& sums) {
    const Tensor x = drawn({5000, 2}, 5, DType::f16), gamma = filled({2}, 1, DType::f16),
                 beta = filled({2}, 0, DType::f16).set_requires_grad(true);
    Tape tape;
    tape.backward(sum(layer_norm(x, gamma, beta, {.sums = sums})));
    return beta.grad().to_doubles()[0];
  };
  CHECK(dbeta({}) == 5000);
  CHECK(dbeta({.format = DType::f16}) == 2048);
  CHECK(dbeta({.format = DType::f16, .chunk = 64}) == 5000);
}

TEST_CASE("layer_norm: gradients that nobody asked for are left out, the others are the same") {
  const Tensor target = drawn({5, 4}, 7, DType::f32);
  const auto gradients = [&](bool of_x, bool of_gamma, bool of_beta) {
    const Tensor x = drawn({5, 4}, 8, DType::f64);
    const Tensor narrow = cast(x, DType::f32).set_requires_grad(of_x);
    const Tensor gamma = filled({4}, 2).set_requires_grad(of_gamma),
                 beta = filled({4}, 1).set_requires_grad(of_beta);
    Tape tape;
    tape.backward(mse(layer_norm(narrow, gamma, beta), target));
    std::vector<Values> found;
    for (const Tensor& t : {narrow, gamma, beta})
      found.push_back(t.grad() ? t.grad().to_doubles() : Values{});
    return found;
  };
  const auto all = gradients(true, true, true);
  CHECK(gradients(true, false, false) == std::vector<Values>{all[0], {}, {}});
  CHECK(gradients(false, true, false) == std::vector<Values>{{}, all[1], {}});
  CHECK(gradients(false, false, true) == std::vector<Values>{{}, {}, all[2]});
}

TEST_CASE("layer_norm: a NaN or an infinity stays in its row, and is not lost there") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Tensor x = Tensor::from({2, 3}, std::vector<float>{1, bad, 2, 3, 4, 5});
    const std::vector<float> y = layer_norm(x, filled({3}, 1), filled({3}, 0)).to_floats();
    for (const std::size_t c : {0u, 1u, 2u}) {
      CHECK(std::isnan(y[c]));
      CHECK(std::isfinite(y[3 + c]));
    }
  }
}

TEST_CASE("layer_norm refuses other formats, shapes that do not fit, and options that make no sense") {
  const Tensor x = filled({4, 3}, 0), one = filled({3}, 1), zero = filled({3}, 0);
  CHECK_SAYS("layer_norm: f32(4, 3) meets f16(3); cast() one of them",
             layer_norm(x, filled({3}, 1, DType::f16), zero));
  CHECK_SAYS("layer_norm: x(4, 3), gamma(4) and beta(3) do not fit", layer_norm(x, filled({4}, 1), zero));
  CHECK_SAYS("layer_norm: x(3), gamma(3) and beta(3) do not fit", layer_norm(one, one, zero));
  CHECK_SAYS("layer_norm: rows of x(4, 0) have no mean",
             layer_norm(filled({4, 0}, 0), filled({0}, 0), filled({0}, 0)));
  CHECK_SAYS("layer_norm: sums are kept in f32 or f16, not bf16",
             layer_norm(x, one, zero, {.sums = {.format = DType::bf16}}));
  CHECK_SAYS("layer_norm: a chunk of -1 terms", layer_norm(x, one, zero, {.sums = {.chunk = -1}}));
  for (const float epsilon : {0.0f, -1e-5f, std::numeric_limits<float>::quiet_NaN()})
    CHECK_SAYS("layer_norm: epsilon is", layer_norm(x, one, zero, {.epsilon = epsilon}));
}

}  // namespace
}  // namespace tinymp::test
