#include <tests/catch.h>
#include <tests/op_cases.h>

/// One pass in place of three: matmul, add_bias and the activation say what it gives, to the last bit,
/// forward and backward.
namespace tinymp::test {
namespace {

struct Layer {
  Tensor x, w, bias;
};

Layer layer(std::int64_t batch, std::int64_t inputs, std::int64_t outputs, DType dtype) {
  Rng rng(7);
  const auto draw = [&](const Shape& shape) {
    std::vector<float> values(static_cast<std::size_t>(shape.size()));
    for (float& v : values) v = rng.uniform(-1, 1);
    return cast(Tensor::from(shape, values), dtype).set_requires_grad(true);
  };
  const Tensor x = draw({batch, inputs}), w = draw({inputs, outputs}), bias = draw({outputs});
  return {x, w, bias};
}

/// y, and the gradients of x, w and bias under the error y itself.
template <class Forward>
std::vector<std::vector<double>> run(const Layer& l, Forward&& forward) {
  std::vector<std::vector<double>> all;
  {
    Tape tape;
    const Tensor y = forward(l);
    all.push_back(y.to_doubles());
    const Tensor target =
        cast(Tensor::from(y.shape(), std::vector<float>(static_cast<std::size_t>(y.size()))),
             at_least_f32(y.dtype()));
    const Tensor loss = mse(y, target);
    tape.backward(loss);
  }
  for (const Tensor& t : {l.x, l.w, l.bias}) {
    all.push_back(t.grad().to_doubles());
    t.clear_grad();
  }
  return all;
}

Tensor apart(const Layer& l, DType sums, std::optional<Activation> f) {
  const Tensor z = add_bias(matmul(l.x, l.w, {sums}), l.bias);
  if (!f) return z;
  return *f == Activation::relu ? relu(z) : *f == Activation::sigmoid ? sigmoid(z) : tanh(z);
}

TEST_CASE("linear has the bits of matmul, add_bias and the activation") {
  for (const auto& [batch, inputs, outputs] : {std::array{1, 1, 1}, {5, 7, 3}, {70, 33, 130}, {4, 400, 20}}) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      for (const DType sums : {DType::f32, DType::f16}) {
        const Layer l = layer(batch, inputs, outputs, dtype);
        for (const std::optional<Activation> f :
             {std::optional<Activation>(), {Activation::relu}, {Activation::sigmoid}, {Activation::tanh}}) {
          INFO(dtype << ", sums in " << sums << ", " << batch << "x" << inputs << "x" << outputs);
          CHECK(run(l, [&](const Layer& at) {
                  return linear(at.x, at.w, at.bias, {sums, f});
                }) == run(l, [&](const Layer& at) { return apart(at, sums, f); }));
        }
      }
    }
  }
}

TEST_CASE("linear says which operand does not fit") {
  const Layer l = layer(2, 3, 4, DType::f32);
  CHECK_THROWS_WITH(linear(l.x, l.x, l.bias),
                    "linear: x(2, 3) . w(2, 3) does not fit: x is (B,I), w is (I,O)");
  CHECK_THROWS_WITH(linear(l.x, l.w, l.x),
                    "linear: w(3, 4) and bias(2, 3) do not fit: w is (I,O), bias is (O)");
  CHECK_THROWS(linear(l.x, cast(l.w, DType::f16), l.bias));
  CHECK_THROWS(linear(l.x, l.w, cast(l.bias, DType::f16)));
}

}  // namespace
}  // namespace tinymp::test
