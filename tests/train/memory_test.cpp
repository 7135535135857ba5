#include <tinymp/train/memory.h>

#include <tests/train/resume.h>
#include <tinymp/base/parallel_for.h>

/// The bytes that train::run measures, against formulas written here: parameters times bytes.
namespace tinymp::test {
namespace {

using train::MemoryBytes;
using train::ModelMaker;
using train::OptimizerMaker;
using train::RunResult;

/// Counted by hand, layer by layer.
struct Sized {
  const char* name;
  ModelMaker make;
  std::int64_t parameters, buffers;  ///< values
};

template <class Model, class... Arguments>
ModelMaker maker(Arguments... arguments) {
  return [=](const Recipe& r, Rng& rng) { return std::make_unique<Model>(arguments..., r, rng); };
}

/// The channels of ResNet-20's norms.
constexpr std::int64_t channels = 7 * 16 + 6 * 32 + 6 * 64;

const std::vector<Sized>& models() {
  static const std::vector<Sized> all{
      {"mlp", maker<nn::Mlp>(std::vector<std::int64_t>{784, 128, 10}), 784 * 128 + 128 + 128 * 10 + 10, 0},
      {"lenet", maker<nn::LeNet>(),
       25 * 6 + 6 + 25 * 6 * 16 + 16 + 400 * 120 + 120 + 120 * 84 + 84 + 84 * 10 + 10, 0},
      {"resnet20", maker<nn::ResNet>(3, nn::ResNet::Images{}),
       9 * (16 + 6 * 16 * 16 + 16 * 32 + 5 * 32 * 32 + 32 * 64 + 5 * 64 * 64) + 2 * channels + 64 * 10 + 10,
       2 * channels}};
  return all;
}

Plan plan_of(const data::Split& data, const Sized& model, const Recipe& recipe, std::int64_t steps = 2) {
  Plan plan = small_plan(data, recipe, steps);
  plan.model = model.make;
  plan.optimizer = made<Adam>({});
  plan.batch = 8;
  return plan;
}

RunResult result_of(const Plan& plan) {
  Scratch scratch;
  return train::run(plan, scratch.next()).result.value();
}

std::int64_t width(DType dtype) { return static_cast<std::int64_t>(size_of(dtype)); }

/// Loops on one thread: then the same blocks are taken in the same order.
struct OneThread {
  int usual = threads();
  OneThread() { set_threads(1); }
  ~OneThread() { set_threads(usual); }
};

}  // namespace

TEST_CASE("memory: weights, masters, moments and gradients take parameters times bytes, to the byte") {
  const data::Split data = made_up_split();
  Recipe narrow_moments = recipes::fp16_dynamic;
  narrow_moments.state = DType::bf16;
  const std::pair<OptimizerMaker, std::int64_t> optimizers[] = {
      {sgd(0.1f), 0}, {sgd(0.1f, 0.9f), 1}, {made<Adam>({}), 2}};
  const Sized mlp = models()[0];
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_weights, recipes::fp16_master,
                               recipes::fp16_dynamic, recipes::o1, recipes::o2, narrow_moments}) {
    for (const auto& [make, moments] : optimizers) {
      INFO(describe(recipe) << ", " << moments << " moments");
      Plan plan = plan_of(data, mlp, recipe);
      plan.optimizer = make;
      const RunResult result = result_of(plan);
      const std::int64_t n = mlp.parameters;
      CHECK(result.memory.weights == n * width(recipe.compute));
      CHECK(result.memory.masters == (recipe.master == recipe.compute ? 0 : n * width(recipe.master)));
      CHECK(result.memory.optimizer == moments * n * width(recipe.state));
      // Autocast adds up the gradients of a parameter's copies in FP32, beside the arena.
      const bool casts = recipe.autocast != DType::f32;
      CHECK(result.memory.gradients == n * width(recipe.gradient) + (casts ? n * 4 : 0));
    }
  }
}

TEST_CASE("memory: the buffers of a model count among its weights, in their own format") {
  const data::Split data = made_up_split();
  for (const Sized& model : models()) {
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic}) {
      INFO(model.name << ", " << describe(recipe));
      const RunResult result = result_of(plan_of(data, model, recipe, 1));
      CHECK(result.memory.weights == model.parameters * width(recipe.compute) + model.buffers * 4);
      CHECK(result.memory.masters == (recipe == recipes::fp32 ? 0 : model.parameters * 4));
      CHECK(result.memory.optimizer == 2 * model.parameters * 4);
      CHECK(result.memory.gradients == model.parameters * width(recipe.gradient));
    }
  }
}

// Of each image: 784 pixels, 128 and 10 results; the loss keeps the largest logit, a logarithm and the label in four
// bytes each, and the gradients of the 10 logits. Beside these the loss.
TEST_CASE("memory: an MLP's activations take the bytes of its layers") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic}) {
    INFO(describe(recipe));
    Plan plan = plan_of(data, models()[0], recipe, 6);
    plan.log_every = 50;  // the losses of several steps wait for the log; they are no activations
    const RunResult result = result_of(plan);
    const std::int64_t layers = 8 * (784 + 128 + 10) * width(recipe.compute),
                       loss = 8 * (3 * 4 + 10 * width(recipe.compute)) + 4;
    CHECK(result.memory.activations == layers + loss);
  }
}

TEST_CASE("memory: in mixed precision the activations halve, and with Adam the model's state grows") {
  const data::Split data = made_up_split();
  for (const Sized& model : models()) {
    const MemoryBytes wide = result_of(plan_of(data, model, recipes::fp32)).memory,
                      narrow = result_of(plan_of(data, model, recipes::fp16_dynamic)).memory;
    const double ratio = static_cast<double>(narrow.activations) / static_cast<double>(wide.activations);
    INFO(model.name << ": " << narrow.activations << " of " << wide.activations << " bytes, " << ratio);
    CHECK(ratio >= 0.5);
    CHECK(ratio <= 0.55);
    const auto state = [](const MemoryBytes& m) { return m.weights + m.masters + m.optimizer; };
    CHECK(state(narrow) - state(wide) == 2 * model.parameters);  // 2 + 4 + 8 bytes against 4 + 8
    CHECK(state(narrow) + narrow.gradients == state(wide) + wide.gradients);
  }
}

TEST_CASE("memory: what only measures does not count") {
  const OneThread one;
  const data::Split data = made_up_split();
  const std::int64_t micro_batches = GENERATE(1, 3);
  Plan plan = plan_of(data, models()[0], recipes::fp16_dynamic, 4);
  plan.micro_batches = micro_batches;
  const RunResult plain = result_of(plan);
  CHECK(plain.peak_bytes > plain.memory.weights + plain.memory.masters + plain.memory.optimizer);
  const Tensor elsewhere({1000, 1000});  // of no run
  CHECK(result_of(plan).memory == plain.memory);
  for (const auto& [shadow, histogram] : {std::pair{1, 0}, {0, 1}, {1, 1}}) {
    INFO(micro_batches << " micro-batches, shadow " << shadow << ", histograms " << histogram);
    plan.shadow_every = shadow;
    plan.histogram_every = histogram;
    const RunResult measured = result_of(plan);
    CHECK(measured.memory == plain.memory);
    CHECK(measured.peak_bytes == plain.peak_bytes);
    CHECK(measured.peak_without_scratch == plain.peak_without_scratch);
  }
}

TEST_CASE("memory: a block that outlives its meter tells the watcher nothing") {
  struct Counted final : MemoryWatcher {
    void taken(const void*, MemoryKind, std::int64_t) override { ++calls; }
    void given_back(const void*) noexcept override { ++calls; }
    void moved(const void*, MemoryKind) override { ++calls; }
    int calls = 0;
  } watcher;
  Rng rng(1);
  const nn::Mlp model({8, 4}, recipes::fp32, rng);
  const Sgd optimizer(tensors(model.parameters()), {}, recipes::fp32);
  Tensor block;
  {
    const train::MemoryMeter meter(model, optimizer, &watcher);
    const MemoryRegion counted(meter.account());
    block = Tensor({2, 3});
  }
  const int before = watcher.calls;
  CHECK(before > 0);
  block = Tensor();
  CHECK(watcher.calls == before);
}

TEST_CASE("memory: an account that refuses tells what is taken, and how to take less") {
  const auto account = std::make_shared<MemoryAccount>();
  account->set_limit(100);
  const MemoryRegion counted(account);
  CHECK_SAYS("100 bytes, and 0 bytes are taken: 400 more for workspace do not fit; a smaller --batch",
             Tensor({100}));
  const Tensor some({10}), scratch = [] {
    const MemoryRegion own(MemoryKind::scratch);
    return Tensor({1000});
  }();
  CHECK_SAYS("40 bytes are taken (workspace 40): 400 more", Tensor({100}));
}

TEST_CASE("memory: a fault and its replay do not count") {
  const OneThread one;
  const data::Split data = made_up_split();
  Recipe bad = recipes::fp16_static;
  bad.scaling = StaticScaling{.factor = 0x1p40f};
  Plan plan = plan_of(data, models()[0], bad, 4);
  const Run broken = [&] {
    Scratch scratch;
    return train::run(plan, scratch.next());
  }();
  CHECK_FALSE(broken.findings.empty());
  plan.recipe = recipes::fp16_static;
  CHECK(broken.result->memory == result_of(plan).memory);
}

TEST_CASE("memory: a run that goes on measures what it measured before") {
  const OneThread one;
  const data::Split data = made_up_split();
  Plan plan = plan_of(data, models()[0], recipes::fp16_dynamic, 6);
  plan.saves = true;
  const RunResult whole = result_of(plan);
  const OwnRun run;
  Plan stopped = plan;
  stopped.stop = [step = 0]() mutable { return ++step == 3; };
  CHECK_FALSE(train::run(stopped, run.log()).result);
  plan.resume = run.folder.path.string();
  const RunResult resumed = train::run(plan, run.log()).result.value();
  CHECK(resumed.memory == whole.memory);
  CHECK(resumed.peak_bytes == whole.peak_bytes);
  CHECK(train::load_run(run.log()).result->memory == whole.memory);
}

}  // namespace tinymp::test
