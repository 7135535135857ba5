#include <tests/cuda/device.h>
#include <tests/train/rig.h>

namespace tinymp::test {
namespace {

TEST_CASE("memory: on the device a run's state and activations take the bytes that they take on the CPU") {
  NEEDS_CUDA();
  Scratch scratch;
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic}) {
    train::Plan plan = small_plan(data, recipe, 2);
    const train::RunResult here = train::run(plan, scratch.next()).result.value();
    plan.device = Device::cuda;
    const train::RunResult there = train::run(plan, scratch.next()).result.value();
    CHECK(there.memory.weights == here.memory.weights);
    CHECK(there.memory.masters == here.memory.masters);
    CHECK(there.memory.optimizer == here.memory.optimizer);
    CHECK(there.memory.gradients == here.memory.gradients);
    CHECK(there.memory.activations == here.memory.activations);
    CHECK(there.peak_bytes > here.memory.weights + here.memory.activations);
  }
}

}  // namespace
}  // namespace tinymp::test
