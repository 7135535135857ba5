#include <tests/catch.h>
#include <tests/optim/rig.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>

/// Gradients of several micro-batches: how much each counts, when they overflow, and what they make of a step.
namespace tinymp::test {
namespace {

/// loss = mean of (g w) over the samples of a micro-batch: g is the gradient of each sample, dloss/dw is their mean.
void backward_of_samples(const Tensor& w, const Tensor& seed, const std::vector<float>& gradients) {
  float mean = 0;
  for (const float g : gradients) mean += g / static_cast<float>(gradients.size());
  Tape tape(nullptr, seed);
  tape.backward(sum(scale(w, mean)));
}

struct Weight {
  explicit Weight(const LossScaling& policy = NoScaling{}, const Recipe& recipe = {})
      : w(parameter({1}, recipe.compute)), optimizer({w}, {.lr = 1}, recipe), scaler(policy) {}

  /// The true gradient of `micro_batches`, as the optimizer reads it.
  double mean_over(double micro_batches) {
    Gradients gradients = optimizer.gradients(micro_batches);
    const UnscaleResult check = scaler.unscale(gradients);
    return static_cast<double>(w.grad().to_floats()[0]) * static_cast<double>(gradients.factor());
  }

  Tensor w;
  Sgd optimizer;
  LossScaler scaler;
};

TEST_CASE("micro-batches: each sample counts alike, though the last micro-batch has one of three") {
  for (const float s : {1.0f, 1024.0f, 3.0f}) {
    Weight right(StaticScaling{.factor = s});
    backward_of_samples(right.w, right.scaler.seed(Device::cpu, 1), {4, 4, 4});
    backward_of_samples(right.w, right.scaler.seed(Device::cpu, 1.0 / 3), {16});
    CHECK(right.mean_over(4.0 / 3) == Approx(7).epsilon(1e-6));  // (4 + 4 + 4 + 16) / 4

    Weight wrong(StaticScaling{.factor = s});  // the mean of the two means
    backward_of_samples(wrong.w, wrong.scaler.seed(Device::cpu), {4, 4, 4});
    backward_of_samples(wrong.w, wrong.scaler.seed(Device::cpu), {16});
    CHECK(wrong.mean_over(2) == Approx(10).epsilon(1e-6));
  }
}

TEST_CASE("micro-batches: the factor is 1/(S micro-batches), with and without clipping") {
  for (const double count : {2.0, 3.0, 7.5, 1000.0}) {
    Weight plain(StaticScaling{.factor = 512});
    leave_gradient(plain.w, {6});
    Gradients gradients = plain.optimizer.gradients(count);
    const UnscaleResult check = plain.scaler.unscale(gradients);
    CHECK(gradients.factor() == Approx(1 / (512 * count)).epsilon(2e-7));

    Weight clipped(StaticScaling{.factor = 512});
    leave_gradient(clipped.w, {static_cast<float>(512 * 6 * count)});  // a mean of 6
    Gradients large = clipped.optimizer.gradients(count);
    const UnscaleResult norm = clipped.scaler.unscale(large, 2);
    CHECK(norm.norm()->read() == Approx(6).epsilon(1e-6));
    CHECK(clipped.w.grad().to_floats()[0] * large.factor() == Approx(2).epsilon(1e-6));
  }
}

TEST_CASE(
    "micro-batches: in FP16 a sum of 8 overflows three powers of two earlier than one of them, in FP32 not") {
  for (const DType format : {DType::f16, DType::f32}) {
    Recipe recipe = recipes::fp16_static;
    recipe.gradient = format;
    for (const int power : {12, 13, 15}) {
      Weight eight(StaticScaling{.factor = 1}, recipe);
      for (int k = 0; k < 8; ++k)
        backward_of_samples(eight.w, eight.scaler.seed(Device::cpu), {std::ldexp(1.0f, power)});
      Gradients gradients = eight.optimizer.gradients(8);
      const UnscaleResult check = eight.scaler.unscale(gradients);
      CHECK(check.finite() == (format == DType::f32 || power + 3 < 16));

      Weight one(StaticScaling{.factor = 1}, recipe);
      backward_of_samples(one.w, one.scaler.seed(Device::cpu), {std::ldexp(1.0f, power)});
      CHECK(std::isfinite(one.mean_over(1)));
    }
  }
}

TEST_CASE("micro-batches: an infinity in one of them skips the step once, and S backs off once") {
  const float infinity = std::numeric_limits<float>::infinity();
  Weight rig(DynamicScaling{.initial = 1024});
  for (const float g : {1.0f, infinity, 2.0f}) backward_of_samples(rig.w, rig.scaler.seed(Device::cpu), {g});
  Gradients gradients = rig.optimizer.gradients(3);
  UnscaleResult check = rig.scaler.unscale(gradients);
  CHECK_FALSE(rig.optimizer.step(gradients, check).read().taken);
  rig.scaler.update(std::move(check));
  rig.optimizer.zero_grad();
  CHECK(rig.w.to_floats()[0] == 1);
  CHECK(rig.scaler.factor() == 512);
  CHECK(rig.optimizer.steps() == 0);
  backward_of_samples(rig.w, rig.scaler.seed(Device::cpu), {4});
  CHECK(rig.mean_over(1) == 4);  // the next step is none of three
}

TEST_CASE("micro-batches: a count or a share that is not above 0 is refused") {
  for (const double count :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Weight rig;
    leave_gradient(rig.w, {1});
    CHECK_ERROR_SAYS("micro-batches; there must be some", rig.optimizer.gradients(count));
    CHECK_ERROR_SAYS("times the usual samples; there must be some", rig.scaler.seed(Device::cpu, count));
  }
}

}  // namespace
}  // namespace tinymp::test
