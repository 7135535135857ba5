#include <tests/cuda/device.h>
#include <tests/kernels/rig.h>
#include <tests/train/rig.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/tensor/storage.h>
#include <functional>

/// Whole training steps of an MLP on Device::cuda, beside the same steps on the CPU.
namespace tinymp::test {
namespace {

using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(std::vector<Tensor>, const Recipe&)>;

template <class Kind>
OptimizerMaker maker(typename Kind::Options options) {
  return [options](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Kind>(std::move(parameters), options, recipe);
  };
}

/// A model in training, a step at a time.
struct Trainee {
  Trainee(Device where, const Recipe& recipe, const OptimizerMaker& make)
      : device(where), scaler(recipe.scaling) {
    Rng rng(11);
    model = std::make_unique<nn::Mlp>(std::vector<std::int64_t>{20, 17, 5}, recipe, rng);
    for (const Tensor& p : tensors(model->parameters())) p.move_to(device);
    optimizer = make(tensors(model->parameters()), recipe);
  }

  /// `blow_up`: the loss is so large that FP16 gradients are not.
  struct Outcome {
    Tensor loss, norm, scale;
    DeviceValue<kernels::GradientCounts> found;
    DeviceValue<kernels::StepOutcome> result;
  };
  Outcome step(int number, float blow_up = 1) {
    const Tensor images = drawn({24, 20}, DType::f32, static_cast<std::uint64_t>(number), 1).to(device);
    std::vector<std::int32_t> labels;
    for (int i = 0; i < 24; ++i) labels.push_back((i * 7 + number) % 5);
    Tensor loss;
    {
      Tape tape;
      loss = scale(cross_entropy((*model)(images), labels), blow_up);
      tape.backward(scaler.scale(loss));
    }
    Gradients gradients = optimizer->gradients();
    UnscaleResult check = scaler.unscale(gradients);
    const Tensor norm = clip_norm(gradients, 0.5f);
    const DeviceValue<kernels::StepOutcome> result = optimizer->step(gradients, check);
    Outcome outcome{loss, norm, scaler.last_factor(), check.found(), result};
    scaler.update(std::move(check));
    optimizer->zero_grad();
    return outcome;
  }

  Device device;
  LossScaler scaler;
  std::unique_ptr<nn::Model> model;
  std::unique_ptr<Optimizer> optimizer;
};

bool close(double a, double b) {
  return (std::isnan(a) && std::isnan(b)) || a == b || std::fabs(a - b) <= 2e-3 * std::max(1.0, std::fabs(b));
}

void expect_same(const Trainee::Outcome& there, const Trainee::Outcome& here) {
  CHECK(there.result.read().taken == here.result.read().taken);  // in any order of sums
  CHECK(there.scale.item() == here.scale.item());
  CHECK(there.found.read().values == here.found.read().values);
  CHECK((there.found.read().nonfinite > 0) == (here.found.read().nonfinite > 0));
  if (!adds_as_cpu()) {
    CHECK(close(there.loss.item(), here.loss.item()));
    CHECK(close(there.norm.item(), here.norm.item()));
    return;
  }
  CHECK(bits_equal(there.loss.to(Device::cpu), here.loss));
  CHECK(bits_equal(there.norm.to(Device::cpu), here.norm));
  CHECK(there.found.read().nonfinite == here.found.read().nonfinite);
  CHECK(there.found.read().zeros == here.found.read().zeros);
  CHECK(there.found.read().subnormals == here.found.read().subnormals);
  CHECK(there.result.read().updates.values == here.result.read().updates.values);
  CHECK(there.result.read().updates.underflowed == here.result.read().updates.underflowed);
  CHECK(there.result.read().updates.absorbed == here.result.read().updates.absorbed);
}

void check_steps(const Recipe& recipe, const OptimizerMaker& make) {
  Trainee here(Device::cpu, recipe, make), there(Device::cuda, recipe, make);
  for (int number = 0; number < 12; ++number) {
    const float blow_up = number % 5 == 3 ? 1e7f : 1;
    INFO(describe(recipe) << ", step " << number);
    expect_same(there.step(number, blow_up), here.step(number, blow_up));
  }
  CHECK(there.optimizer->steps() == here.optimizer->steps());
  CHECK(there.scaler.state() == here.scaler.state());
  if (!adds_as_cpu()) return;
  CHECK(bits_equal(there.optimizer->master().to(Device::cpu), here.optimizer->master()));
  CHECK(bits_equal(there.optimizer->weights().to(Device::cpu), here.optimizer->weights()));
  for (std::size_t m = 0; m < here.optimizer->moments().size(); ++m)
    CHECK(bits_equal(there.optimizer->moments()[m].to(Device::cpu), here.optimizer->moments()[m]));
}

std::vector<Recipe> all_recipes() {
  Recipe bf16{.compute = DType::bf16, .gradient = DType::bf16};
  Recipe narrow_state = recipes::fp16_dynamic;
  narrow_state.state = DType::bf16;
  Recipe fixed = recipes::fp16_static;
  fixed.scaling = StaticScaling{.factor = 64, .skip_nonfinite = true};
  Recipe dynamic = recipes::fp16_dynamic;
  dynamic.scaling = DynamicScaling{.initial = 1024, .growth_interval = 2};
  Recipe enhanced = recipes::fp16_dynamic;
  enhanced.scaling = EnhancedScaling{.dynamic = {.initial = 1024, .growth_interval = 2},
                                     .floor = scale_floors_from("1:1000,3:2000")};
  return {recipes::fp32,
          recipes::fp16_weights,
          recipes::fp16_master,
          recipes::fp16_static,
          recipes::fp16_dynamic,
          bf16,
          narrow_state,
          fixed,
          dynamic,
          enhanced};
}

TEST_CASE("SGD with momentum: steps, skips and scales are those of the CPU") {
  NEEDS_CUDA();
  for (const Recipe& recipe : all_recipes())
    check_steps(recipe, maker<Sgd>({.lr = 0.1f, .momentum = 0.9f, .weight_decay = 0.01f}));
}
TEST_CASE("plain SGD: steps, skips and scales are those of the CPU") {
  NEEDS_CUDA();
  for (const Recipe& recipe : all_recipes()) check_steps(recipe, maker<Sgd>({.lr = 0.1f}));
}
TEST_CASE("Adam: steps, skips and scales are those of the CPU") {
  NEEDS_CUDA();
  for (const Recipe& recipe : all_recipes()) check_steps(recipe, maker<Adam>({.lr = 0.01f}));
}
TEST_CASE("AdamW: steps, skips and scales are those of the CPU") {
  NEEDS_CUDA();
  for (const Recipe& recipe : all_recipes()) check_steps(recipe, maker<AdamW>({.lr = 0.01f}));
}
TEST_CASE("Adagrad: steps, skips and scales are those of the CPU") {
  NEEDS_CUDA();
  for (const Recipe& recipe : all_recipes()) check_steps(recipe, maker<Adagrad>({.lr = 0.05f}));
}

/// The executor's memory, counting whoever waits.
class Watched : public Allocator {
 public:
  int waits = 0;
  void* allocate(std::size_t bytes) override { return inner().allocate(bytes); }
  void release(void* memory, std::size_t bytes) noexcept override { inner().release(memory, bytes); }
  void copy_in(void* device, const void* host, std::size_t bytes) override {
    inner().copy_in(device, host, bytes);
  }
  void copy_out(void* host, const void* device, std::size_t bytes) override {
    ++waits;
    inner().copy_out(host, device, bytes);
  }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    inner().copy_within(to, from, bytes);
  }

 private:
  static Allocator& inner() { return kernels::cuda_allocator(); }
};

TEST_CASE("a step waits for nothing, and in the long run asks for no memory") {
  NEEDS_CUDA();
  static Watched watched;
  register_device(Device::cuda, []() -> Allocator& { return watched; });
  Trainee trainee(Device::cuda, recipes::fp16_dynamic, maker<Adam>({.lr = 0.01f}));
  for (int number = 0; number < 3; ++number) static_cast<void>(trainee.step(number));
  const int waits = watched.waits;
  const std::size_t blocks = pool_statistics().from_system;
  for (int number = 3; number < 20; ++number) static_cast<void>(trainee.step(number, number == 7 ? 1e7f : 1));
  CHECK(watched.waits == waits);
  CHECK(pool_statistics().from_system == blocks);
  CHECK(trainee.optimizer->steps() < 20);
  CHECK(watched.waits == waits + 1);
  register_device(Device::cuda, kernels::cuda_allocator);
}

TEST_CASE("a run reads its steps back in one copy for 64 of them") {
  NEEDS_CUDA();
  static Watched watched;
  register_device(Device::cuda, []() -> Allocator& { return watched; });
  Scratch scratch;
  const data::Split data = made_up_split();
  const auto waits_of = [&](std::int64_t steps) {
    train::Plan plan = small_plan(data, recipes::fp16_dynamic, steps);
    plan.device = Device::cuda;
    plan.log_every = steps;
    plan.shadow_every = 0;
    const int before = watched.waits;
    static_cast<void>(train::run(plan, scratch.next()));
    return watched.waits - before;
  };
  const int of_two_copies = waits_of(128);
  CHECK(waits_of(192) - of_two_copies < 16);  // the copy, and those of the search for the first bad tensor
  register_device(Device::cuda, kernels::cuda_allocator);
}

TEST_CASE("end_step writes down what lies on the device, and then moves S") {
  for (const Device device : {Device::cpu, Device::cuda}) {
    if (device == Device::cuda) NEEDS_CUDA();
    const Tensor loss = from({1.0 / 3}, DType::f64).to(device), norm = from({0.1}, DType::f16).to(device);
    const DeviceValue<kernels::GradientCounts> found(
        device, {.values = 5, .nonfinite = 1, .zeros = 2, .subnormals = 3});
    const DeviceValue<kernels::StepOutcome> outcome(
        device, {.taken = true, .updates = {.values = 7, .underflowed = 1, .absorbed = 2}});
    const DeviceValue<kernels::StepRecords> records(device, kernels::StepRecords());
    const DeviceValue<ScaleState> scale(device, {.scale = 1024});
    for (int step = 0; step < 70; ++step) {
      const bool with_norm = step % 2 == 0, backs_off = step == 0;
      kernels::end_step(backs_off ? LossScaling(DynamicScaling()) : LossScaling(StaticScaling()),
                        found.cell(), outcome.cell(), loss.view(), with_norm ? norm.view() : View{},
                        scale.cell(), records.cell());
      const kernels::StepRecords all = records.read();
      REQUIRE(all.steps == step + 1);
      const kernels::StepRecord& read = all.at[step % 64];
      CHECK(read.loss == 1.0 / 3);
      CHECK(read.scale == (step == 0 ? 1024 : 512));
      CHECK(read.norm == (with_norm ? norm.item() : 0));
      CHECK(read.found.values == 5);
      CHECK(read.found.nonfinite == 1);
      CHECK(read.found.zeros == 2);
      CHECK(read.found.subnormals == 3);
      CHECK(read.outcome.taken);
      CHECK(read.outcome.updates.values == 7);
      CHECK(read.outcome.updates.underflowed == 1);
      CHECK(read.outcome.updates.absorbed == 2);
    }
    CHECK(scale.read().scale == 512);
  }
}

TEST_CASE("a run on the device finds the same first bad tensor as on the CPU") {
  NEEDS_CUDA();
  Scratch scratch;
  const data::Split data = made_up_split();
  train::Plan plan = small_plan(data, recipes::fp16_static, 3);
  plan.recipe.scaling = StaticScaling{.factor = 0x1p24f};
  const train::Run here = train::run(plan, scratch.next());
  plan.device = Device::cuda;
  const train::Run there = train::run(plan, scratch.next());
  REQUIRE(here.findings.size() == 1);
  REQUIRE(there.findings.size() == 1);
  CHECK(there.findings[0].sentence == here.findings[0].sentence);
  CHECK(there.findings[0].op == "cross_entropy");
}

}  // namespace
}  // namespace tinymp::test
