#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <tests/optim/rig.h>
#include <tinymp/nn/norm.h>
#include <limits>

/// Batch norm's running averages move with the weights: in the optimizer's step, and not in one that is
/// skipped.
namespace tinymp::test {
namespace {

using Values = std::vector<double>;

constexpr float infinity = std::numeric_limits<float>::infinity();

/// A layer, its optimizer and a loss scale that skips what is not finite.
struct Training {
  nn::BatchNorm layer{2, recipes::fp32};
  LossScaler scaler{DynamicScaling{.initial = 8}};
  Sgd optimizer{{layer.gamma, layer.beta}, {.lr = 0.1f}};

  void forward(const Tensor& x) {
    Tape tape;
    tape.backward(scaler.scale(mean(layer(x))));
  }
  bool step() {
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    const bool taken = optimizer.step(gradients, check).read().taken;
    scaler.update(std::move(check));
    optimizer.zero_grad();
    return taken;
  }
  Values averages() const {
    Values all = layer.running_mean.to_doubles();
    for (const double v : layer.running_variance.to_doubles()) all.push_back(v);
    return all;
  }
};

/// What the averages of a layer without an optimizer are after these batches.
Values averages_after(const std::vector<Tensor>& batches) {
  const nn::BatchNorm layer(2, recipes::fp32);
  for (const Tensor& x : batches) {
    Tape tape;
    layer(x);
  }
  Values all = layer.running_mean.to_doubles();
  for (const double v : layer.running_variance.to_doubles()) all.push_back(v);
  return all;
}

const Tensor first = drawn({6, 2}, DType::f32, 1), second = drawn({9, 2}, DType::f32, 2);

TEST_CASE("running averages wait for the step, and then have the bits that they would have had at once") {
  Training t;
  t.forward(first);
  CHECK(t.averages() == Values{0, 0, 1, 1});
  REQUIRE(t.step());
  CHECK(t.averages() == averages_after({first}));
  t.forward(second);
  REQUIRE(t.step());
  CHECK(t.averages() == averages_after({first, second}));
}

TEST_CASE("micro-batches move the running averages in their order") {
  Training t;
  t.forward(first);
  t.forward(second);
  REQUIRE(t.step());
  CHECK(t.averages() == averages_after({first, second}));
  CHECK(t.averages() != averages_after({second, first}));
}

TEST_CASE("a skipped step leaves the running averages as they were, and the next one moves them") {
  Training t;
  t.forward(first);
  REQUIRE(t.step());
  const Values before = t.averages();
  t.forward(Tensor::from({2, 2}, std::vector<float>{1, 2, infinity, 3}));
  CHECK_FALSE(t.step());
  CHECK(t.averages() == before);
  t.forward(first);
  t.forward(Tensor::from({2, 2}, std::vector<float>{1, 2, infinity, 3}));  // one bad micro-batch skips all
  CHECK_FALSE(t.step());
  CHECK(t.averages() == before);
  t.forward(second);
  REQUIRE(t.step());
  CHECK(t.averages() == averages_after({first, second}));
}

TEST_CASE("zero_grad forgets what the running averages would have followed") {
  Training t;
  t.forward(first);
  t.optimizer.zero_grad();
  t.forward(second);
  REQUIRE(t.step());
  CHECK(t.averages() == averages_after({second}));
}

TEST_CASE("without an optimizer, and once it is gone, forward moves the running averages") {
  nn::BatchNorm layer(2, recipes::fp32);
  {
    const Sgd optimizer({layer.gamma, layer.beta}, {.lr = 0.1f});
    Tape tape;
    layer(first);
  }
  CHECK(layer.running_mean.to_doubles() == Values{0, 0});  // its step never came
  Tape tape;
  layer(second);
  CHECK(layer.running_mean.to_doubles() != Values{0, 0});
}

}  // namespace
}  // namespace tinymp::test
