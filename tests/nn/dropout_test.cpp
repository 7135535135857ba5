#include <tinymp/nn/layers.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/numeric/half.h>

/// The layer; its mask: ops/dropout_test.cpp.
namespace tinymp::test {
namespace {

using Values = std::vector<float>;

Tensor ones(DType dtype = DType::f32) { return Tensor::from({4000}, Values(4000, 1), dtype); }

Values training(const nn::Dropout& layer) {
  Tape tape;
  return layer(ones()).to_floats();
}

TEST_CASE("Dropout: without a tape x comes back, and no mask is used up") {
  const nn::Dropout layer(0.5f, 1);
  const Tensor x = ones();
  CHECK(layer(x).id() == x.id());
  CHECK(layer.step.item() == 0);
}

TEST_CASE("Dropout: each call with a tape has another mask, and a run with the same seed has the same ones") {
  const nn::Dropout layer(0.5f, 1), again(0.5f, 1), other(0.5f, 2);
  const Values first = training(layer), second = training(layer);
  CHECK(layer.step.item() == 2);
  CHECK(first != second);
  CHECK(training(again) == first);
  CHECK(training(again) == second);
  CHECK(training(other) != first);
  const nn::Dropout resumed(0.5f, 1);  // from a checkpoint
  resumed.step.data<double>()[0] = 1;
  CHECK(training(resumed) == second);
}

TEST_CASE("Dropout: backward has the mask of its own forward, also when the layer was called again") {
  const nn::Dropout layer(0.3f, 4);
  const Tensor a = ones().set_requires_grad(true), b = ones().set_requires_grad(true);
  Tape tape;
  const Tensor y = layer(a), z = layer(b);
  tape.backward(sum(add(y, z)));
  CHECK(a.grad().to_floats() == y.to_floats());
  CHECK(b.grad().to_floats() == z.to_floats());
  CHECK(y.to_floats() != z.to_floats());
}

TEST_CASE("Dropout drops the same places in every format, and refuses what is no probability") {
  const nn::Dropout wide(0.5f, 6), narrow(0.5f, 6);
  Tape tape;
  CHECK(wide(ones()).to_floats() == narrow(ones(DType::f16)).to_floats());  // 0 and 2
  CHECK_SAYS("Dropout: p is 1", nn::Dropout(1, 0));
}

}  // namespace
}  // namespace tinymp::test
