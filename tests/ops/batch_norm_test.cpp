#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>

/// What an entry in op_cases.h cannot say of batch_norm: its options, what it refuses, what it hands back.
namespace tinymp::test {
namespace {

Tensor filled(Shape shape, float value, DType dtype = DType::f32) {
  return Tensor::from(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), value), dtype);
}

TEST_CASE("batch_norm refuses other formats, shapes that do not fit, and a batch of one") {
  const Tensor x = filled({4, 3}, 0), one = filled({3}, 1), zero = filled({3}, 0);
  CHECK_SAYS("batch_norm: f32(4, 3) meets f16(3); cast() one of them",
             batch_norm(x, filled({3}, 1, DType::f16), zero));
  CHECK_SAYS("batch_norm: f16(4, 3) meets bf16(3)",
             batch_norm(cast(x, DType::f16), filled({3}, 1, DType::bf16), zero));
  CHECK_SAYS("batch_norm: f16(4, 3) meets f64(3)",
             batch_norm(cast(x, DType::f16), filled({3}, 1, DType::f64), zero));
  CHECK_SAYS("batch_norm: f32(3) meets bf16(3)", batch_norm(x, one, filled({3}, 0, DType::bf16)));
  CHECK_SAYS("batch_norm: f32(3) meets f16(3)",
             batch_norm(cast(x, DType::f16), one, filled({3}, 0, DType::f16)));
  CHECK_SAYS("batch_norm: x(4, 3), gamma(4) and beta(3) do not fit", batch_norm(x, filled({4}, 1), zero));
  CHECK_SAYS("batch_norm: x(4, 3), gamma(3) and beta(1, 3) do not fit",
             batch_norm(x, one, filled({1, 3}, 0)));
  CHECK_SAYS("batch_norm: x(3), gamma(3) and beta(3) do not fit", batch_norm(one, one, zero));
  CHECK_SAYS("batch_norm: a batch of 1 has no variance", batch_norm(filled({1, 3}, 0), one, zero));
  CHECK_SAYS("batch_norm: a batch of 0 has no variance", batch_norm(filled({0, 3}, 0), one, zero));
}

TEST_CASE("batch_norm of FP16 images with FP32 gamma and beta: the FP32 computation, rounded once") {
  Rng rng(8);
  const auto drawn = [&](Shape shape, float low, float high) {
    std::vector<float> values(static_cast<std::size_t>(shape.size()));
    for (float& v : values) v = rng.uniform(low, high);
    return Tensor::from(shape, values).set_requires_grad(true);
  };
  for (const DType narrow : {DType::f16, DType::bf16}) {
    const Tensor gamma = drawn({5}, 0.5f, 2), beta = drawn({5}, -1, 1);
    const Tensor x = cast(drawn({2, 3, 4, 5}, -3, 9), narrow).set_requires_grad(true);
    const Tensor wide = cast(x, DType::f32).set_requires_grad(true);
    const Tensor dy = cast(drawn({2, 3, 4, 5}, -1, 1), narrow);  // what both are handed
    const auto run = [&](const Tensor& in) {
      for (const Tensor& t : {in, gamma, beta}) t.clear_grad();
      Tensor y;
      {
        Tape tape;
        y = batch_norm(in, gamma, beta);
        CHECK(y.dtype() == in.dtype());
        const Tensor given = cast(dy, y.dtype());
        tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                             [&](const Tensor&, const Needs&) { return std::vector{given}; }));
      }
      CHECK(gamma.grad().dtype() == DType::f32);
      return std::vector{cast(y, narrow).to_floats(), cast(in.grad(), narrow).to_floats(),
                         gamma.grad().to_floats(), beta.grad().to_floats()};
    };
    CHECK(run(x) == run(wide));
  }
}

TEST_CASE("batch_norm refuses sums and an epsilon that make no sense") {
  const Tensor x = filled({4, 3}, 0), one = filled({3}, 1), zero = filled({3}, 0);
  CHECK_SAYS("batch_norm: sums are kept in f32 or f16, not bf16",
             batch_norm(x, one, zero, {.sums = {.format = DType::bf16}}));
  CHECK_SAYS("batch_norm: a chunk of -1 terms", batch_norm(x, one, zero, {.sums = {.chunk = -1}}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float epsilon : {0.0f, -1e-5f, nan, std::numeric_limits<float>::infinity()})
    CHECK_SAYS("batch_norm: epsilon is", batch_norm(x, one, zero, {.epsilon = epsilon}));
}

TEST_CASE(
    "batch_norm hands back what it divided by, in FP32, and gives every column mean beta and deviation "
    "gamma") {
  Rng rng(1);
  std::vector<float> values(500 * 3);
  for (float& v : values) v = rng.uniform(5, 9);
  for (const DType dtype : {DType::f16, DType::f32}) {
    const Tensor x = Tensor::from({500, 3}, values, dtype);
    const Tensor gamma = filled({3}, 2, dtype), beta = filled({3}, -1, dtype);
    BatchStatistics found;
    const Tensor y = batch_norm(x, gamma, beta, {}, &found);
    CHECK(found.mean.dtype() == DType::f32);
    CHECK(found.variance.dtype() == DType::f32);
    const std::vector<double> in = x.to_doubles(), out = y.to_doubles();
    for (std::size_t c = 0; c < 3; ++c) {
      double mean_in = 0, mean = 0, squares = 0;
      for (std::size_t i = c; i < in.size(); i += 3) {
        mean_in += in[i] / 500;
        mean += out[i] / 500;
        squares += (out[i] + 1) * (out[i] + 1) / 500;
      }
      CHECK(found.mean.to_doubles()[c] == Approx(mean_in).epsilon(1e-5));
      CHECK(found.variance.to_doubles()[c] == Approx(16.0 / 12).epsilon(0.1));  // of U(5,9)
      CHECK(mean == Approx(-1).margin(1e-3));
      CHECK(squares == Approx(4).epsilon(1e-3));
    }
  }
}

TEST_CASE(
    "backward of batch_norm sums as forward does, and hands gradients back in the format of its input") {
  for (const Accumulation& sums :
       {Accumulation{}, {.format = DType::f16}, {.format = DType::f16, .chunk = 64}}) {
    std::vector<float> values(5000);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = i % 2 == 0 ? 1.0f : -1.0f;
    const Tensor x = Tensor::from({5000, 1}, values, DType::f16).set_requires_grad(true);
    const Tensor gamma = filled({1}, 1, DType::f16).set_requires_grad(true),
                 beta = filled({1}, 0, DType::f16).set_requires_grad(true);
    Tape tape;
    tape.backward(sum(batch_norm(x, gamma, beta, {.sums = sums})));
    CHECK(x.grad().dtype() == DType::f16);
    CHECK(gamma.grad().dtype() == DType::f16);
    const bool stops = sums.format == DType::f16 && sums.chunk == 0;
    CHECK(beta.grad().item() == (stops ? 2048 : 5000));
  }
}

TEST_CASE("batch_norm: gradients that nobody asked for are left out, the others are the same") {
  Rng rng(2);
  std::vector<float> values(20);
  for (float& v : values) v = rng.uniform(-1, 1);
  const Tensor weights = Tensor::from({5, 4}, values);
  for (float& v : values) v = rng.uniform(-1, 1);
  const auto gradients = [&](bool of_x, bool of_gamma, bool of_beta) {
    const Tensor x = Tensor::from({5, 4}, values).set_requires_grad(of_x);
    const Tensor gamma = filled({4}, 1).set_requires_grad(of_gamma),
                 beta = filled({4}, 0).set_requires_grad(of_beta);
    Tape tape;
    tape.backward(mse(batch_norm(x, gamma, beta), weights));
    std::vector<std::vector<float>> found;
    for (const Tensor& t : {x, gamma, beta})
      found.push_back(t.grad() ? t.grad().to_floats() : std::vector<float>{});
    return found;
  };
  const auto all = gradients(true, true, true);
  CHECK(gradients(true, false, false) == std::vector<std::vector<float>>{all[0], {}, {}});
  CHECK(gradients(false, true, false) == std::vector<std::vector<float>>{{}, all[1], {}});
  CHECK(gradients(false, false, true) == std::vector<std::vector<float>>{{}, {}, all[2]});
}

TEST_CASE("batch_norm: a NaN or an infinity stays in its column, and is not lost there") {
  for (const float bad : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const Tensor x = Tensor::from({3, 2}, std::vector<float>{1, 2, bad, 3, 4, 5});
    const std::vector<float> y = batch_norm(x, filled({2}, 1), filled({2}, 0)).to_floats();
    for (const std::size_t b : {0u, 1u, 2u}) {
      CHECK(std::isnan(y[2 * b]));
      CHECK(std::isfinite(y[2 * b + 1]));
    }
  }
}

}  // namespace
}  // namespace tinymp::test
