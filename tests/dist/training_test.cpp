#include <tests/dist/training.h>

/// Training with several ranks has the bits of one process that accumulates as many micro-batches.
namespace tinymp::test {
namespace {

constexpr auto decoder = nn::Transformer::Kind::decoder, encoder = nn::Transformer::Kind::encoder;

/// S begins where FP16 overflows, so that the first steps are skipped; then it grows every other step.
Recipe moving_scale() {
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p24f, .growth_interval = 2};
  return recipe;
}

std::vector<Recipe> usual_recipes() { return {recipes::fp32, recipes::fp16_static, moving_scale()}; }

Plan of_images(const data::Split& data, const Recipe& recipe, train::ModelMaker model) {
  Plan plan = saving_plan(data, recipe);
  plan.model = std::move(model);
  plan.batch = 6;
  plan.optimizer = sgd(0.05f, 0.9f);
  return plan;
}

TEST_CASE("ranks: the bits of one process that accumulates, for an MLP") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : usual_recipes()) {
    Plan plan = of_images(data, recipe, train::model_of<nn::Mlp>({784, 12, 10}));
    check_shared(plan);
    plan.clip = 0.05f;
    plan.histogram_every = 3;
    plan.shadow_every = 2;
    plan.validate_every = 2;
    check_shared(plan);
    CHECK(alone(plan).weights != alone([&] {
                                   Plan other = plan;
                                   other.clip = 0;
                                   return other;
                                 }())
                                     .weights);
  }
}

TEST_CASE("ranks: the bits of one process that accumulates, for LeNet, a residual network and autoencoders") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : usual_recipes()) {
    Plan lenet = of_images(data, recipe,
                           [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); });
    lenet.steps = 4;
    lenet.batch = 3;
    check_shared(lenet, {4});
    check_shared(
        of_images(data, recipe,
                  [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(16, 2, r, rng); }),
        {2});
    Plan plan = of_images(data, recipe, train::model_of<nn::Autoencoder>({784, 8, 784}));
    plan.task = Task::reconstruct;
    check_shared(plan, {2});
  }
}

TEST_CASE("ranks: batch norm's averages follow the micro-batches of all ranks, in their order") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : usual_recipes()) {
    Plan plan = of_images(data, recipe, train::model_of<nn::BatchNormMlp>({784, 6, 10}));
    check_shared(plan);
    plan.model = [](const Recipe& r, Rng& rng) {
      return std::make_unique<nn::ResNet>(1, nn::ResNet::Images{}, r, rng);
    };
    plan.batch = 2;
    plan.steps = 2;
    plan.shadow_every = plan.histogram_every = 0;
    plan.recompute = nn::Segments::one_a_block();
    check_shared(plan, {4});
  }
}

TEST_CASE("ranks: the bits of one process that accumulates, for an LSTM") {
  const data::Text text = made_up_text();
  for (const Recipe& recipe : usual_recipes())
    check_shared(of_text(text, recipe, model_named("lstm").make, data::TextAim::next_token));
}

TEST_CASE("ranks: the bits of one process that accumulates, for transformers with a tied table and dropout") {
  const data::Text text = made_up_text();
  for (const Recipe& recipe : usual_recipes())
    for (const auto kind : {decoder, encoder}) {
      const auto aim = kind == encoder ? data::TextAim::masked_tokens : data::TextAim::next_token;
      nn::TransformerSizes sizes = small;
      sizes.words = data::TextExamples::words_of(std::ssize(text.vocabulary), aim);
      Plan plan = of_text(text, recipe, transformer(kind, sizes), aim);
      plan.clip = 0.5f;
      plan.histogram_every = 3;
      plan.shadow_every = recipe == recipes::fp32 ? 0 : 2;
      check_shared(plan);
    }
}

/// The loss of one micro-batch in eight overflows FP16; it is told by its labels, so any rank may have it.
Tensor loss_with_overflow(const Tensor& y, std::span<const std::int32_t> labels) {
  const bool overflows = (labels[0] + 3 * labels[1] + 7 * labels[2]) % 8 == 0;
  return overflows ? scale(cross_entropy(y, labels), 1e7f) : cross_entropy(y, labels);
}

TEST_CASE("ranks: an overflow on one rank skips the step of all, and S moves once") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp16_static, moving_scale()}) {
    Plan plan = of_images(data, recipe, train::model_of<nn::BatchNormMlp>({784, 6, 10}));
    plan.loss = loss_with_overflow;
    plan.shadow_every = plan.histogram_every = 0;
    plan.steps = 20;
    plan.micro_batches = 4;
    const OwnRun own;
    const Run run = train::run(plan, own.log());
    // A static scale skips no step: the infinity goes into the weights of all.
    if (recipe == recipes::fp16_static) {
      CHECK(run.result->first_nonfinite_step > 1);
    } else {
      CHECK(run.result->skipped > 2);
      CHECK(run.result->taken > 2);
    }
    check_shared(plan);
  }
}

TEST_CASE("ranks: all recipes that can be shared, of an MLP with norms") {
  const data::Split data = made_up_split();
  for (const std::string& name : recipe_names()) {
    const Recipe recipe = recipe_from_name(name);
    Plan plan = of_images(data, recipe, train::model_of<nn::BatchNormMlp>({784, 6, 10}));
    plan.micro_batches = 4;
    if (!recipe.eight_bits.any()) {
      check_shared(plan, {2});
      continue;
    }
    const dist::ThreadRanks one(1);
    plan.ranks = &one.at(0);
    const OwnRun run;
    CHECK_SAYS("its products are in FP8", train::run(plan, run.log()));
  }
}

TEST_CASE("ranks: a run goes on with another number of ranks") {
  const data::Split data = made_up_split();
  const data::Text text = made_up_text();
  std::vector<Plan> plans{
      of_images(data, moving_scale(), train::model_of<nn::BatchNormMlp>({784, 6, 10})),
      of_text(text, recipes::fp32, transformer(decoder, small), data::TextAim::next_token)};
  for (Plan& plan : plans) {
    plan.micro_batches = 4;
    const Outcome expected = alone(plan);
    for (const auto& [before, after] : {std::pair{4, 2}, {2, 1}, {1, 4}, {2, 0}}) {  // 0: without ranks
      INFO(before << " ranks, then " << after);
      const OwnRun run;
      on_ranks(before, [&](dist::Transport& ranks) {
        Plan stopped = plan;
        stopped.ranks = &ranks;
        // Rank 1 alone, or 0 where there is one, is asked to stop; it stops all after the same step.
        if (ranks.rank() == ranks.ranks() / 3) stopped.stop = [now = 0]() mutable { return ++now == 3; };
        train::run(stopped, run.log());
      });
      CHECK_FALSE(train::load_run(run.log()).result.has_value());
      CHECK(train::step_of_checkpoint(run.newest()) == 3);
      Plan resumed = plan;
      resumed.resume = run.folder.path.string();
      check_same(expected, after == 0 ? finish(resumed, run) : finish_on_ranks(resumed, after, run));
    }
  }
}

}  // namespace
}  // namespace tinymp::test
