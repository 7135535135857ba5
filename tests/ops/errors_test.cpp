#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/ops/ops.h>

/// What an op refuses: the message names the op, the shapes and the formats.
namespace tinymp::test {
namespace {

Tensor zeros(Shape shape, DType dtype = DType::f32) {
  const std::vector<float> values(static_cast<std::size_t>(shape.size()), 0.0f);
  return Tensor::from(shape, values, dtype);
}

TEST_CASE("mixed formats are refused: cast is the only crossing") {
  const Tensor x = zeros({2, 3}), h = zeros({3, 4}, DType::f16);
  CHECK_SAYS("matmul: f32(2, 3) meets f16(3, 4); cast() one of them", matmul(x, h));
  CHECK_SAYS("add: f32(2, 3) meets f16(2, 3); cast() one of them", add(x, zeros({2, 3}, DType::f16)));
  CHECK_SAYS("add_bias: f32(2, 3) meets f16(3); cast() one of them", add_bias(x, zeros({3}, DType::f16)));
  CHECK_SAYS("add: f64(2, 3) meets f32(2, 3)", add(zeros({2, 3}, DType::f64), x));
  CHECK_SAYS("mse: the target of a f16 prediction is f32, not f16", mse(h, h));
  CHECK_SAYS("mse: the target of a f64 prediction is f64, not f32", mse(zeros({2}, DType::f64), zeros({2})));
}

TEST_CASE("shapes that do not fit are refused") {
  const Tensor x = zeros({2, 3});
  CHECK_SAYS("matmul: x(2, 3) . w(4, 5) does not fit", matmul(x, zeros({4, 5})));
  CHECK_SAYS("matmul: x(2, 3) . w(3) does not fit", matmul(x, zeros({3})));
  CHECK_SAYS("matmul: x(2, 3, 1) . w(3, 4) does not fit", matmul(zeros({2, 3, 1}), zeros({3, 4})));
  CHECK_SAYS("add_bias: x(2, 3) + bias(2) does not fit", add_bias(x, zeros({2})));
  CHECK_SAYS("add_bias: x(2, 3) + bias(1, 3) does not fit", add_bias(x, zeros({1, 3})));
  CHECK_SAYS("add_bias: x(3) + bias(3) does not fit", add_bias(zeros({3}), zeros({3})));
  CHECK_SAYS("add: shapes (2, 3) and (3, 2) differ", add(x, zeros({3, 2})));
  CHECK_SAYS("mse: shapes (2, 3) and (6) differ", mse(x, zeros({6})));
  CHECK_SAYS("reshape: 6 values of shape (2, 3) do not fit (4)", reshape(x, {4}));
}

TEST_CASE("multiply, columns and concat_columns refuse what does not fit") {
  const Tensor x = zeros({2, 3});
  CHECK_SAYS("multiply: f32(2, 3) meets f16(2, 3)", multiply(x, zeros({2, 3}, DType::f16)));
  CHECK_SAYS("multiply: shapes (2, 3) and (3, 2) differ", multiply(x, zeros({3, 2})));
  CHECK_SAYS("columns: x(3); x is (B,O)", columns(zeros({3}), 0, 1));
  CHECK_SAYS("columns: 2 columns from 2 on do not lie inside x(2, 3)", columns(x, 2, 2));
  CHECK_SAYS("columns: -1 columns from 0 on do not lie inside x(2, 3)", columns(x, 0, -1));
  CHECK_SAYS("columns: 1 columns from -1 on do not lie inside x(2, 3)", columns(x, -1, 1));
  CHECK_SAYS("concat_columns: there is nothing to join", concat_columns({}));
  CHECK_SAYS("concat_columns: (3, 3) beside (2, 3)", concat_columns({x, zeros({3, 3})}));
  CHECK_SAYS("concat_columns: (2) beside (2, 3)", concat_columns({x, zeros({2})}));
  CHECK_SAYS("concat_columns: f32(2, 3) meets f16(2, 3)", concat_columns({x, zeros({2, 3}, DType::f16)}));
}

TEST_CASE("embedding refuses tokens that the table does not have") {
  const Tensor table = zeros({4, 3});
  const auto of = [](const Tensor& t, std::vector<std::int32_t> tokens) { return embedding(t, tokens); };
  CHECK(of(table, {}).shape() == Shape{0, 3});
  CHECK_SAYS("embedding: token 4 is not one of the 4 rows of the table", of(table, {0, 4}));
  CHECK_SAYS("embedding: token -1 is not one of the 4 rows", of(table, {-1}));
  CHECK_SAYS("embedding: a table of shape (4); it is (V,D)", of(zeros({4}), {0}));
}

TEST_CASE("a mean, a loss of nothing is refused - a sum of nothing is 0") {
  CHECK(sum(zeros({0, 3})).item() == 0);
  CHECK_SAYS("mean: a tensor of shape (0, 3) has no values", mean(zeros({0, 3})));
  CHECK_SAYS("mse: a tensor of shape (0, 3) has no values", mse(zeros({0, 3}), zeros({0, 3})));
  CHECK_SAYS("cross_entropy: 0 labels for logits of shape (0, 3)",
             cross_entropy(zeros({0, 3}), std::vector<std::int32_t>{}));
}

TEST_CASE("labels that are not classes, too few or too many labels are refused") {
  const Tensor logits = zeros({2, 3});
  const auto of = [&](std::vector<std::int32_t> labels) { return cross_entropy(logits, labels); };
  CHECK(of({0, 2}).item() > 1);
  CHECK_SAYS("cross_entropy: label 3 is not one of the 3 classes", of({0, 3}));
  CHECK_SAYS("cross_entropy: label -1 is not one of the 3 classes", of({-1, 0}));
  CHECK_SAYS("cross_entropy: 1 labels for logits of shape (2, 3)", of({0}));
  CHECK_SAYS("cross_entropy: 3 labels for logits of shape (2, 3)", of({0, 1, 2}));
  CHECK_SAYS("cross_entropy: 2 labels for logits of shape (2)",
             cross_entropy(zeros({2}), std::vector<std::int32_t>{0, 0}));
}

TEST_CASE("matmul keeps the sums of narrow values in f32 or f16 only") {
  const Tensor x = zeros({2, 2});
  CHECK_SAYS("matmul: sums of f32 values are kept in f32 or f16, not f64",
             matmul(x, x, {.accumulate = DType::f64}));
  CHECK_SAYS("matmul: sums of bf16 values are kept in f32 or f16, not bf16",
             matmul(cast(x, DType::bf16), cast(x, DType::bf16), {.accumulate = DType::bf16}));
  const Tensor wide = zeros({2, 2}, DType::f64);
  CHECK(matmul(wide, wide, {.accumulate = DType::f64}).dtype() == DType::f64);
}

TEST_CASE("an op that was refused leaves nothing on the tape") {
  const Tensor x = zeros({2, 3}).set_requires_grad(true);
  Tape tape;
  CHECK_THROWS_AS(matmul(x, zeros({4, 5})), Error);
  CHECK_THROWS_AS(add(x, zeros({2, 3}, DType::f16)), Error);
  CHECK(tape.size() == 0);
}

}  // namespace
}  // namespace tinymp::test
