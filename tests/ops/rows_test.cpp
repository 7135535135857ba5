#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>

/// A softmax out of its pieces, and what each way of writing it does in FP16; what the pieces refuse.
namespace tinymp::test {
namespace {

using Values = std::vector<double>;
using Loss = Tensor (*)(const Tensor& x, std::span<const std::int32_t> labels);

Tensor negative_mean(const Tensor& x) { return scale(mean(x), -1); }

/// exp / sum / log as they stand in a textbook.
Tensor naive(const Tensor& x, std::span<const std::int32_t> labels) {
  const Tensor e = exp(x);
  return negative_mean(log(pick(divide_rows(e, row_sum(e)), labels)));
}
/// With the largest value taken out first.
Tensor max_subtracted(const Tensor& x, std::span<const std::int32_t> labels) {
  return naive(subtract_rows(x, row_max(x)), labels);
}
/// log sum exp, with the largest value taken out first.
Tensor by_log_sum_exp(const Tensor& x, std::span<const std::int32_t> labels) {
  const Tensor z = subtract_rows(x, row_max(x));
  return negative_mean(subtract(pick(z, labels), log(row_sum(exp(z)))));
}
Tensor of_log_softmax(const Tensor& x, std::span<const std::int32_t> labels) {
  return negative_mean(pick(log_softmax(x), labels));
}
Tensor of_softmax(const Tensor& x, std::span<const std::int32_t> labels) {
  return negative_mean(log(pick(softmax(x), labels)));
}

struct Found {
  double loss = 0;
  Values gradient;
};
Found run(Loss loss_of, const Tensor& x, const std::vector<std::int32_t>& labels) {
  const Tensor leaf = x.viewed_as(x.shape()).set_requires_grad(true);  // no gradient of another run
  Tape tape;
  const Tensor loss = loss_of(leaf, labels);
  tape.backward(loss);
  return {loss.item(), leaf.grad().to_doubles()};
}

Tensor logits(double spread, DType dtype) {
  Rng rng(5);
  Values values(40 * 10);
  for (double& v : values) v = static_cast<double>(rng.uniform(-1, 1)) * spread;
  return cast(Tensor::from({40, 10}, std::span<const double>(values)), dtype);
}
std::vector<std::int32_t> labels_of_40() {
  std::vector<std::int32_t> labels;
  for (std::int32_t b = 0; b < 40; ++b) labels.push_back(3 * b % 10);
  return labels;
}

TEST_CASE("a loss out of the pieces of a softmax is cross_entropy, and so are its gradients") {
  for (const auto& [dtype, tolerance] :
       {std::pair(DType::f64, 1e-12), {DType::f32, 1e-6}, {DType::f16, 2e-2}, {DType::bf16, 1e-1}}) {
    const Tensor x = logits(3, dtype);
    const Found expected = run(cross_entropy, x, labels_of_40());
    for (const Loss loss : {naive, max_subtracted, by_log_sum_exp, of_log_softmax, of_softmax}) {
      const Found found = run(loss, x, labels_of_40());
      INFO(dtype);
      CHECK(found.loss == Approx(expected.loss).epsilon(tolerance));
      for (std::size_t i = 0; i < found.gradient.size(); ++i)
        REQUIRE(found.gradient[i] == Approx(expected.gradient[i]).margin(tolerance / 40));
    }
  }
}

TEST_CASE(
    "in FP16 the naive loss ends at a logit of 11.1, in FP32 it holds to 88, and the others do not end") {
  const auto finite = [](Loss loss, float logit, DType dtype) {
    const Tensor x = Tensor::from({1, 2}, std::vector<float>{logit, 0}, dtype);
    const Found found = run(loss, x, {0});
    return std::isfinite(found.loss) && std::isfinite(found.gradient[0]) && std::isfinite(found.gradient[1]);
  };
  CHECK(finite(naive, 10, DType::f16));
  CHECK_FALSE(finite(naive, 12, DType::f16));
  CHECK(finite(naive, 80, DType::f32));
  CHECK_FALSE(finite(naive, 90, DType::f32));
  for (const Loss loss : {max_subtracted, by_log_sum_exp, of_log_softmax, of_softmax})
    CHECK(finite(loss, 12, DType::f16));
}

TEST_CASE("in FP16 the log of an unlikely share is infinite, but log_softmax and log sum exp know it") {
  const Tensor x = Tensor::from({1, 2}, std::vector<float>{20, 0}, DType::f16);  // e^-20 = 2e-9: no half
  const std::vector<std::int32_t> unlikely{1};
  for (const Loss loss : {naive, max_subtracted, of_softmax}) {
    const Found found = run(loss, x, unlikely);
    CHECK_FALSE(std::isfinite(found.loss));
    CHECK_FALSE(std::isfinite(found.gradient[0]));
  }
  for (const Loss loss : {by_log_sum_exp, of_log_softmax, Loss(cross_entropy)}) {
    const Found found = run(loss, x, unlikely);
    CHECK(found.loss == Approx(20));
    CHECK(found.gradient[0] == Approx(1));
    CHECK(found.gradient[1] == Approx(-1));
  }
}

TEST_CASE("row_sum of FP16 values: what the sum is kept in, and what it is stored in") {
  const Tensor ones = Tensor::from({1, 5000}, std::vector<float>(5000, 1), DType::f16);
  CHECK(row_sum(ones).item() == 5000);
  CHECK(row_sum(ones).dtype() == DType::f16);
  CHECK(row_sum(ones, {.format = DType::f16}).item() == 2048);
  CHECK(row_sum(ones, {.format = DType::f16, .chunk = 64}).item() == 5000);
  CHECK(std::isinf(row_sum(scale(ones, 100)).item()));  // 500,000 is no half, however it is summed
  CHECK(row_sum(cast(ones, DType::f64), {.format = DType::f16}).item() == 5000);
}

TEST_CASE("rows: what does not fit is refused") {
  const auto zeros = [](Shape shape, DType dtype = DType::f32) {
    return Tensor::from(shape, std::vector<float>(static_cast<std::size_t>(shape.size())), dtype);
  };
  const Tensor x = zeros({2, 3}), by = zeros({2});
  CHECK_SAYS("row_max: x(2) does not fit: x is (B,C)", row_max(by));
  CHECK_SAYS("row_max: rows of x(2, 0) have no values", row_max(zeros({2, 0})));
  CHECK_SAYS("row_sum: x(2) does not fit", row_sum(by));
  CHECK_SAYS("row_sum: sums are kept in f32 or f16, not bf16", row_sum(x, {.format = DType::bf16}));
  CHECK_SAYS("row_sum: a chunk of -1 terms", row_sum(x, {.chunk = -1}));
  CHECK_SAYS("subtract_rows: x(2, 3) by (3) does not fit: x is (B,C), by is (B)",
             subtract_rows(x, zeros({3})));
  CHECK_SAYS("divide_rows: x(2, 3) by (2, 1) does not fit", divide_rows(x, zeros({2, 1})));
  CHECK_SAYS("divide_rows: f32(2, 3) meets f16(2); cast() one", divide_rows(x, zeros({2}, DType::f16)));
  CHECK_SAYS("subtract: f32(2) meets f16(2); cast() one", subtract(by, zeros({2}, DType::f16)));
  CHECK_SAYS("subtract: shapes (2, 3) and (2) differ", subtract(x, by));
  CHECK_SAYS("pick: label 3 is not one of the 3 classes", pick(x, std::vector<std::int32_t>{0, 3}));
  CHECK_SAYS("pick: 1 labels for x of shape (2, 3)", pick(x, std::vector<std::int32_t>{0}));
  CHECK_SAYS("softmax: x(2) does not fit: x is (B,C)", softmax(by));
  CHECK_SAYS("log_softmax: x(2, 3, 1) does not fit", log_softmax(zeros({2, 3, 1})));
}

TEST_CASE("rows: gradients that nobody asked for are left out, the others are the same") {
  const auto gradients = [](auto op, bool of_x, bool of_by) {
    const Tensor x = Tensor::from({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6}).set_requires_grad(of_x);
    const Tensor by = Tensor::from({2}, std::vector<float>{2, -3}).set_requires_grad(of_by);
    Tape tape;
    const Tensor y = op(x, by);
    tape.backward(sum(y));
    std::vector<Values> found;
    for (const Tensor& t : {x, by}) found.push_back(t.grad() ? t.grad().to_doubles() : Values{});
    return found;
  };
  for (const auto op : {subtract_rows, divide_rows}) {
    const auto all = gradients(op, true, true);
    CHECK(gradients(op, true, false) == std::vector<Values>{all[0], {}});
    CHECK(gradients(op, false, true) == std::vector<Values>{{}, all[1]});
  }
}

TEST_CASE("the gradient of log is dy / x, not what a rounded log(x) would give back") {
  const Tensor x = Tensor::from({1}, std::vector<float>{2896}, DType::f16).set_requires_grad(true);
  Tape tape;
  tape.backward(sum(log(x)));
  CHECK(x.grad().data<half>()[0].bits() == half(1.0f / 2896).bits());
}

}  // namespace
}  // namespace tinymp::test
