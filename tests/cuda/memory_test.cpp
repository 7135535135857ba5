#include <tests/cuda/device.h>
#include <tests/train/dry_runs.h>

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

// Neither the batch on the CPU nor the move of the scaler's state counts.
TEST_CASE("memory: on the device a run takes the bytes of its dry run, and these are enough") {
  NEEDS_CUDA();
  Scratch scratch;
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::o1, delayed()}) {
    for (const std::int64_t micro_batches : {1, 2}) {
      for (const std::int64_t histogram_every : {0, 1}) {
        INFO(describe(recipe) << ", " << micro_batches << " micro-batches, histograms " << histogram_every);
        train::Plan plan = small_plan(data, recipe, 4);
        plan.device = Device::cuda;
        plan.batch = 48;  // the images take more than the model
        plan.micro_batches = micro_batches;
        plan.histogram_every = histogram_every;
        const MemoryUse use = dry_run(plan, train::blank(train::batch_shape_of(plan)));
        plan.memory_limit = use.peak;
        const train::RunResult result = train::run(plan, scratch.next()).result.value();
        CHECK(result.peak_without_scratch == use.peak);
        CHECK(result.memory.activations == use.most[MemoryKind::activations]);
        CHECK(result.memory.workspace == use.most[MemoryKind::workspace]);
        CHECK(result.memory.optimizer == use.most[MemoryKind::optimizer]);
        CHECK(result.memory.weights == use.most[MemoryKind::weights]);
        plan.graph = true;
        CHECK_SAYS("leave out one of the two", train::run(plan, scratch.next()));
      }
    }
  }
}

}  // namespace
}  // namespace tinymp::test
