#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <tinymp/ops/ops.h>

/// What an f16 accumulator does to a matmul, forward and backward, and that the tape remembers it.
namespace tinymp::test {
namespace {

Tensor filled(Shape shape, float value, DType dtype) {
  return Tensor::from(shape, std::vector<float>(static_cast<std::size_t>(shape.size()), value), dtype);
}

TEST_CASE("a sum of ones in an f16 accumulator stops at 2048") {
  const Tensor row = filled({1, 5000}, 1, DType::f16), column = filled({5000, 1}, 1, DType::f16);
  CHECK(matmul(row, column).item() == 5000);
  CHECK(matmul(row, column, {.accumulate = DType::f16}).item() == 2048);
  const Tensor wide_row = filled({1, 5000}, 1, DType::f32), wide_column = filled({5000, 1}, 1, DType::f32);
  CHECK(matmul(wide_row, wide_column, {.accumulate = DType::f16}).item() == 2048);
}

TEST_CASE("backward of matmul accumulates in the format that forward did") {
  for (const DType accumulate : {DType::f32, DType::f16}) {
    const double expected = accumulate == DType::f32 ? 3000 : 2048;
    // dx:(1,1) = dy:(1,3000) . w^T, dw:(1,1) = x^T:(1,3000) . dy, all ones
    const Tensor x = filled({1, 1}, 1, DType::f16).set_requires_grad(true);
    const Tensor w = filled({1, 3000}, 1, DType::f16);
    {
      Tape tape;
      tape.backward(sum(matmul(x, w, {accumulate})));
    }
    CHECK(x.grad().item() == expected);

    const Tensor rows = filled({3000, 1}, 1, DType::f16);
    const Tensor weight = filled({1, 1}, 1, DType::f16).set_requires_grad(true);
    {
      Tape tape;
      tape.backward(sum(matmul(rows, weight, {accumulate})));
    }
    CHECK(weight.grad().item() == expected);
  }
}

TEST_CASE("bias gradients are summed in FP32 and rounded once") {
  const Tensor x = filled({5000, 3}, 0, DType::f16);
  const Tensor bias = filled({3}, 0, DType::f16).set_requires_grad(true);
  Tape tape;
  tape.backward(sum(add_bias(x, bias)));
  CHECK(bias.grad().dtype() == DType::f16);
  CHECK(bias.grad().to_floats() == std::vector<float>{5000, 5000, 5000});
}

}  // namespace
}  // namespace tinymp::test
