#include <tests/cuda/device.h>
#include <tests/train/resume.h>

// A run on the device that was stopped and goes on ends with the bits of one that was never stopped.
namespace tinymp::test {
namespace {

/// Few images to measure with: the emulation takes its time.
data::Split few_images() {
  return {.train = made_up_images(96, 1), .validation = made_up_images(4, 2), .test = made_up_images(4, 3)};
}

Plan device_plan(const data::Split& data, const train::ModelMaker& model, std::int64_t steps) {
  Plan plan = saving_plan(data, recipes::fp16_dynamic, steps);
  plan.device = Device::cuda;
  plan.model = model;
  plan.optimizer = made<Adam>({.lr = 1e-3f});
  return plan;
}

TEST_CASE("a resumed run has the bits of one that was never stopped: MLP") {
  NEEDS_CUDA();
  const data::Split data = few_images();
  Plan plan = device_plan(data, train::model_of<nn::Mlp>({784, 6, 10}), 7);
  plan.batch = 12;
  const Outcome there = check_resumes(plan, {3, 4});
  if (!adds_as_cpu()) return;
  plan.device = Device::cpu;
  const OwnRun here;
  const Outcome expected = finish(plan, here);
  CHECK(there.weights == expected.weights);
  CHECK(there.checkpoints == expected.checkpoints);  // no device is in them
}

TEST_CASE(
    "a resumed run has the bits of one that was never stopped: FP8 with scales, and with random rounding") {
  NEEDS_CUDA();
  const data::Split data = few_images();
  Recipe delayed = recipes::fp8_hybrid, current = delayed, random = recipes::fp8_e5m2;
  delayed.eight_bits.history = 3;
  current.eight_bits.scaling = TensorScaling::current;
  random.rounding = {.weights = Rounding::stochastic,
                     .activations = Rounding::stochastic,
                     .errors = Rounding::stochastic,
                     .gradients = Rounding::stochastic};
  for (const Recipe& recipe : {delayed, current, random}) {
    INFO(describe(recipe));
    Plan plan = device_plan(data, train::model_of<nn::Mlp>({784, 6, 10}), 7);
    plan.recipe = recipe;
    plan.recipe.eight_bits.exempt = {};
    plan.batch = 12;
    const Outcome there = check_resumes(plan, {3});
    if (!adds_as_cpu()) return;
    plan.device = Device::cpu;
    const OwnRun here;
    const Outcome expected = finish(plan, here);
    CHECK(there.weights == expected.weights);
    CHECK(there.checkpoints == expected.checkpoints);
  }
}

TEST_CASE("a resumed run has the bits of one that was never stopped: LeNet") {
  NEEDS_CUDA();
  const data::Split data = few_images();
  Plan plan = device_plan(
      data, [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); }, 4);
  plan.batch = 2;
  check_resumes(plan, {3});
}

}  // namespace
}  // namespace tinymp::test
