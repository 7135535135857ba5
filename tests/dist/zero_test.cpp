#include <tests/dist/training.h>

/// ZeRO stage 1: ranks that share masters and moments leave the bits of one process that keeps all of them.
namespace tinymp::test {
namespace {

constexpr auto decoder = nn::Transformer::Kind::decoder;

Recipe moving_scale() {
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p24f, .growth_interval = 2};  // the first steps overflow
  return recipe;
}

/// With BF16 weights without masters, rounded stochastically: the random words follow from the place among all weights.
std::vector<Recipe> usual_recipes() {
  return {recipes::fp32, recipes::fp16_static, moving_scale(), recipes::bf16_sr};
}

Plan of_images(const data::Split& data, const Recipe& recipe, train::ModelMaker model) {
  Plan plan = saving_plan(data, recipe);
  plan.model = std::move(model);
  plan.optimizer = made<Adam>({.lr = 0.01f});
  plan.optimizer_name = "adam lr=0.01";
  plan.batch = 4;
  plan.clip = 0.5f;
  plan.histogram_every = 3;
  plan.shadow_every = recipe == recipes::fp32 ? 0 : 2;
  plan.validate_every = 2;
  return plan;
}

/// Log, checkpoints and weights are those of one process.
void check_zero(Plan plan, std::initializer_list<int> counts = {1, 2, 3, 4}) {
  plan.micro_batches = 12;
  const Outcome expected = alone(plan);
  plan.zero = 1;
  for (const int count : counts) {
    INFO(plan.name << ", " << describe(plan.recipe) << ", " << plan.optimizer_name << ", " << count
                   << " ranks");
    const OwnRun run;
    check_same(expected, finish_on_ranks(plan, count, run));
  }
}

TEST_CASE("zero: the bits of one process, for an MLP and all optimizers") {
  const data::Split data = made_up_split();
  const std::vector<std::pair<std::string, train::OptimizerMaker>> optimizers{
      {"sgd", sgd(0.05f)},
      {"momentum", sgd(0.05f, 0.9f)},
      {"adagrad", made<Adagrad>({.lr = 0.01f, .weight_decay = 0.01f})},
      {"adam", made<Adam>({.lr = 0.01f})},
      {"adamw", made<AdamW>({.lr = 0.01f, .weight_decay = 0.1f})}};
  for (const Recipe& recipe : usual_recipes())
    for (const auto& [name, make] : optimizers) {
      Plan plan = of_images(data, recipe, train::model_of<nn::Mlp>({784, 12, 10}));
      plan.optimizer = make;
      plan.optimizer_name = name;
      if (name == "sgd") plan.clip = 0;  // the norm is only logged
      check_zero(plan,
                 name == "adam" ? std::initializer_list<int>{1, 2, 3, 4} : std::initializer_list<int>{3});
    }
}

TEST_CASE("zero: the bits of one process, for LeNet and ResNet-20") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : usual_recipes()) {
    Plan plan = of_images(data, recipe,
                          [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); });
    plan.batch = 1;
    plan.steps = 3;
    plan.histogram_every = 2;
    check_zero(plan, {3});
    plan.model = model_named("resnet20").make;
    plan.optimizer = sgd(0.05f, 0.9f);
    plan.steps = 2;
    plan.shadow_every = 0;
    plan.batch = 2;
    check_zero(plan, {4});
  }
}

TEST_CASE("zero: parameters in the master's format are whole on all ranks") {
  const data::Split data = made_up_split();
  for (const std::string& name : recipe_names()) {
    const Recipe recipe = recipe_from_name(name);
    if (recipe.eight_bits.any()) continue;
    check_zero(of_images(data, recipe, train::model_of<nn::BatchNormMlp>({784, 6, 10})), {2, 3});
  }
}

TEST_CASE("zero: the bits of one process, for an LSTM and a transformer with a tied table and dropout") {
  const data::Text text = made_up_text();
  for (const Recipe& recipe : usual_recipes()) {
    Plan plan = of_text(text, recipe, model_named("lstm").make, data::TextAim::next_token);
    plan.clip = 0.5f;
    check_zero(plan, {2, 4});
    nn::TransformerSizes sizes = small;
    sizes.words = data::TextExamples::words_of(std::ssize(text.vocabulary), data::TextAim::next_token);
    plan.model = transformer(decoder, sizes);
    plan.optimizer = made<AdamW>({.lr = 0.01f, .weight_decay = 0.1f});
    plan.histogram_every = 3;
    check_zero(plan);
  }
}

/// The loss of some micro-batches overflows FP16; their labels tell which, so any rank may have one.
Tensor loss_with_overflow(const Tensor& y, std::span<const std::int32_t> labels) {
  const bool overflows = (labels[0] + 3 * labels[1] + 7 * labels[2]) % 24 == 0;
  return overflows ? scale(cross_entropy(y, labels), 1e7f) : cross_entropy(y, labels);
}

TEST_CASE("zero: an overflow on one rank skips the step of all, and the search for it finds the same") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp16_static, moving_scale()}) {
    Plan plan = of_images(data, recipe, train::model_of<nn::Mlp>({784, 12, 10}));
    plan.loss = loss_with_overflow;
    plan.shadow_every = plan.histogram_every = 0;
    plan.steps = 20;
    plan.micro_batches = 12;
    const OwnRun own;
    const Run run = train::run(plan, own.log());
    if (recipe == recipes::fp16_static) {
      CHECK(run.result->first_nonfinite_step > 1);
      CHECK(run.findings.size() == 1);
    } else {
      CHECK(run.result->skipped > 2);
      CHECK(run.result->taken > 2);
    }
    check_zero(plan);
  }
}

TEST_CASE("zero: a long run, with the copies that a search begins from") {
  const data::Split data = made_up_split();
  Recipe narrow = moving_scale();
  narrow.state = DType::f16;  // in it the sums of squares become infinite, and the loss stays finite
  Plan plan = of_images(data, narrow, train::model_of<nn::Mlp>({784, 3, 10}));
  plan.loss = [](const Tensor& y, std::span<const std::int32_t> labels) {
    return scale(cross_entropy(y, labels), 1e3f);
  };
  plan.optimizer = made<Adagrad>({.lr = 1e-4f});
  plan.clip = 0;
  plan.steps = 300;
  plan.batch = 1;
  plan.save_every = 70;
  plan.log_every = 50;
  plan.shadow_every = plan.histogram_every = 0;
  plan.validate_every = 100;
  plan.micro_batches = 12;
  const OwnRun own;
  const Run run = train::run(plan, own.log());
  CHECK(run.findings.size() == 1);
  CHECK(run.findings.at(0).kind == "passing");
  check_zero(plan, {3});
}

TEST_CASE("zero: a run goes on with or without it, with another number of ranks") {
  const data::Split data = made_up_split();
  Plan plan = of_images(data, moving_scale(), train::model_of<nn::BatchNormMlp>({784, 6, 10}));
  plan.micro_batches = 12;
  const Outcome expected = alone(plan);
  struct Way {
    int before, zero_before, after, zero_after;
  };
  for (const auto& [before, zero_before, after, zero_after] :
       {Way{4, 1, 2, 0}, Way{2, 0, 3, 1}, Way{3, 1, 4, 1}, Way{2, 1, 0, 0}}) {  // 0: without ranks
    INFO(before << " ranks, then " << after);
    const OwnRun run;
    on_ranks(before, [&, stage = zero_before](dist::Transport& ranks) {
      Plan stopped = plan;
      stopped.ranks = &ranks;
      stopped.zero = stage;
      if (ranks.rank() == ranks.ranks() / 3) stopped.stop = [now = 0]() mutable { return ++now == 3; };
      train::run(stopped, run.log());
    });
    CHECK(train::step_of_checkpoint(run.newest()) == 3);
    Plan resumed = plan;
    resumed.resume = run.folder.path.string();
    resumed.zero = zero_after;
    check_same(expected, after == 0 ? finish(resumed, run) : finish_on_ranks(resumed, after, run));
  }
}

/// The bytes of masters and moments that each rank of such a run has kept.
std::vector<std::int64_t> state_bytes(Plan plan, int count) {
  plan.micro_batches = 12;
  plan.zero = 1;
  const OwnRun run;
  std::vector<std::int64_t> found;
  on_ranks(count, [&](dist::Transport& ranks) {
    Plan shared = plan;
    shared.ranks = &ranks;
    const Run ended = train::run(shared, run.log());
    if (ranks.rank() > 0) return;
    found = ended.state_bytes;
    const train::MemoryBytes& own = ended.result->memory;
    if (own.masters + own.optimizer != found[0]) throw Error("the log has other bytes");
  });
  return found;
}

TEST_CASE("zero: a rank keeps its part of the bytes") {
  const data::Split data = made_up_split();
  const std::int64_t values = 784 * 12 + 12 + 12 * 10 + 10, chunks = (values + 1023) / 1024;
  // FP16: a master and two moments of 4 bytes. FP32: the moments alone.
  for (const auto& [recipe, each] : {std::pair{recipes::fp16_static, 12}, {recipes::fp32, 8}}) {
    const Plan plan = of_images(data, recipe, train::model_of<nn::Mlp>({784, 12, 10}));
    const OwnRun own;
    const Run one = train::run(plan, own.log());
    CHECK(one.result->memory.masters + one.result->memory.optimizer == values * each);
    CHECK(one.state_bytes.empty());
    for (const int count : {1, 2, 3, 4}) {
      const std::vector<std::int64_t> found = state_bytes(plan, count);
      REQUIRE(found.size() == static_cast<std::size_t>(count));
      std::int64_t sum = 0;
      for (const std::int64_t bytes : found) {
        CHECK(bytes <= (chunks + count - 1) / count * 1024 * each);
        sum += bytes;
      }
      CHECK(sum == values * each);
    }
  }
}

TEST_CASE("zero: what cannot be shared is refused") {
  const data::Split data = made_up_split();
  const OwnRun run;
  Plan plan = of_images(data, recipes::fp32, train::model_of<nn::Mlp>({784, 12, 10}));
  plan.zero = 1;
  CHECK_SAYS("has no ranks to share them", train::run(plan, run.log()));
  const dist::ThreadRanks one(1);
  plan.ranks = &one.at(0);
  plan.zero = 2;
  CHECK_SAYS("there are 0 (none) and 1", train::run(plan, run.log()));
}

}  // namespace
}  // namespace tinymp::test
