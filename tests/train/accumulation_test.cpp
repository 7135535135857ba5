#include <tests/kernels/rig.h>
#include <tests/optim/rig.h>
#include <tests/train/resume.h>
#include <tinymp/data/text_examples.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/train/step.h>
#include <algorithm>
#include <cmath>
#include <optional>

/// Runs whose steps add up the gradients of micro-batches.
namespace tinymp::test {
namespace {

using Kind = nn::Transformer::Kind;

/// The gradients of the first step of a plan, with which the optimizer moves the weights, and the loss.
struct FirstStep {
  explicit FirstStep(const Plan& plan) : FirstStep(plan, train::make_loader(plan)) {}
  FirstStep(const Plan& plan, const data::Loader& loader) : FirstStep(plan, next_of(loader, plan)) {}
  /// `from`: delayed scales of a step before; null: none.
  FirstStep(const Plan& plan, const train::MicroBatches& batches, const DelayedScaleState* from = nullptr) {
    const std::unique_ptr<nn::Model> model = train::make_model(plan, plan.recipe);
    const std::unique_ptr<Optimizer> optimizer = train::make_optimizer(plan, *model);
    LossScaler scaler(plan.recipe.scaling);
    const Float8Products products = train::make_products(plan, *model);
    if (from != nullptr) products.restore(*from);
    const train::StepRecords records(plan.device, kernels::StepRecords());
    const train::StepMeters meters{.updated = [&](const Gradients& gradients) {
      for (const Tensor& p : tensors(model->parameters())) {
        of.push_back(p.grad().to_doubles());
        for (double& g : of.back()) g *= static_cast<double>(gradients.factor());
      }
    }};
    start_step(plan, 1, *model, *optimizer, scaler, products, meters, batches, records);
    loss = records.read().at[0].loss;
    buffers = model->buffers();
    scales = products.scales();
    state = products.state();
  }

  std::vector<std::vector<double>> of;
  double loss = 0;
  std::vector<Tensor> buffers;
  std::vector<Float8Products::Scale> scales;
  DelayedScaleState state;
};

/// `apart` of the largest gradient of each parameter is allowed between the two.
void check_alike(const FirstStep& whole, const FirstStep& parts, double apart) {
  CHECK(parts.loss == Approx(whole.loss).epsilon(1e-6));
  REQUIRE(parts.of.size() == whole.of.size());
  for (std::size_t p = 0; p < whole.of.size(); ++p) {
    double largest = 0, farthest = 0;
    for (std::size_t i = 0; i < whole.of[p].size(); ++i) {
      largest = std::max(largest, std::fabs(whole.of[p][i]));
      farthest = std::max(farthest, std::fabs(whole.of[p][i] - parts.of[p][i]));
    }
    INFO("parameter " << p);
    CHECK(largest > 0);
    CHECK(farthest <= apart * largest);
  }
}

/// 8 micro-batches of 32 against one batch of 256.
void check_sums(Plan plan, double apart = 1e-6) {
  plan.batch = 256;
  const FirstStep whole(plan);
  plan.batch = 32;
  plan.micro_batches = 8;
  check_alike(whole, FirstStep(plan), apart);
}

/// Each micro-batch in a step of its own, from the same weights and delayed scales: the gradients of the sum are their mean,
/// taken here in FP64, and the amax of the sum are the largest of theirs.
void check_mean_of_steps(Plan plan, const DelayedScaleState* from = nullptr) {
  constexpr std::int64_t parts = 4;
  INFO(describe(plan.recipe));
  plan.micro_batches = parts;
  const data::Loader loader = train::make_loader(plan);
  const FirstStep sum(plan, next_of(loader, plan), from);
  std::optional<FirstStep> mean;
  for (std::int64_t i = 0; i < parts; ++i) {
    const train::MicroBatches one{{plan.batch}, [&](std::int64_t) { return loader.part(i, parts); }};
    const FirstStep alone(plan, one, from);
    if (!mean) {
      mean = alone;
      continue;
    }
    mean->loss += alone.loss;
    for (std::size_t p = 0; p < mean->of.size(); ++p)
      for (std::size_t k = 0; k < mean->of[p].size(); ++k) mean->of[p][k] += alone.of[p][k];
    for (std::size_t k = 0; k < mean->scales.size(); ++k)
      mean->scales[k].amax = std::max(mean->scales[k].amax, alone.scales[k].amax);
  }
  mean->loss /= parts;
  for (std::vector<double>& gradient : mean->of)
    for (double& g : gradient) g /= parts;
  check_alike(*mean, sum, 1e-6);
  REQUIRE(sum.scales.size() == mean->scales.size());
  for (std::size_t k = 0; k < sum.scales.size(); ++k) {
    INFO(sum.scales[k].weight << ", " << sum.scales[k].role);
    CHECK(sum.scales[k].amax == mean->scales[k].amax);
  }
}

Plan of_text(const data::Text& text, Kind kind) {
  Plan plan;
  plan.name = "text";
  plan.task = train::Task::name_tokens;
  const auto aim = kind == Kind::encoder ? data::TextAim::masked_tokens : data::TextAim::next_token;
  plan.text = train::TextPlan{.text = &text, .aim = aim, .context = 8};
  const nn::TransformerSizes sizes{.words = data::TextExamples::words_of(std::ssize(text.vocabulary), aim),
                                   .context = 8,
                                   .layers = 2,
                                   .width = 16,
                                   .heads = 2};
  plan.model = [=](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::Transformer>(kind, sizes, r, rng);
  };
  plan.optimizer = sgd(0.1f);
  return plan;
}

/// In random text gradients would cancel, and what is left of them would be rounding.
data::Text repeating_text() {
  data::Text text{.name = "made up", .vocabulary = {"<unk>", "a", "b", "c"}, .train = {}, .validation = {}};
  for (int i = 0; i < 3000; ++i)
    (i < 2700 ? text.train : text.validation).push_back(static_cast<std::int32_t>(i % 7 % 4));
  return text;
}

TEST_CASE("accumulation: 8 x 32 is one batch of 256, for models without batch norm") {
  const data::Split data{
      .train = made_up_images(256, 1), .validation = made_up_images(16, 2), .test = made_up_images(16, 3)};
  Plan plan = small_plan(data);
  check_sums(plan);
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); };
  check_sums(plan);
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(16, 2, r, rng); };
  check_sums(plan);
  plan.model = train::model_of<nn::Autoencoder>({784, 8, 784});
  plan.task = train::Task::reconstruct;
  check_sums(plan);
}

/// The first gradients of a plan in FP64, from the same weights.
std::vector<std::vector<double>> true_gradients(const Plan& plan) {
  constexpr Recipe in_f64{.compute = DType::f64, .gradient = DType::f64, .master = DType::f64};
  Rng rng(0);
  const std::unique_ptr<nn::Model> model = train::make_model(plan, plan.recipe),
                                   wide = plan.model(in_f64, rng);
  nn::copy_parameters(*model, *wide);
  Tape tape;
  tape.backward(train::loss_of(plan.task, *wide, train::make_loader(plan).part(0, 1)));
  std::vector<std::vector<double>> all;
  for (const Tensor& p : tensors(wide->parameters())) all.push_back(p.grad().to_doubles());
  return all;
}

/// The largest difference of any gradient, in parts of the largest of its tensor. A bias of the keys moves all scores of a row
/// alike, so that its gradient is 0 but for rounding; it stands beside that of the queries.
double apart(const std::vector<nn::Parameter>& parameters, const std::vector<std::vector<double>>& truth,
             const FirstStep& found) {
  double most = 0, of_queries = 0;
  for (std::size_t p = 0; p < truth.size(); ++p) {
    double largest = 0, farthest = 0;
    for (std::size_t i = 0; i < truth[p].size(); ++i) {
      largest = std::max(largest, std::fabs(truth[p][i]));
      farthest = std::max(farthest, std::fabs(truth[p][i] - found.of[p][i]));
    }
    if (parameters[p].name.ends_with("query bias")) of_queries = largest;
    if (parameters[p].name.ends_with("key bias")) largest = of_queries;
    most = std::max(most, farthest / largest);
  }
  return most;
}

// The gradient of a weight is a sum over all tokens of a batch, in one FP32 chain. In a batch of 256 texts of 8 tokens that
// chain has 2048 terms; in one of 8 texts it has 64, and 32 such sums are added. So the sum of parts is nearer to the truth.
TEST_CASE(
    "accumulation: 8 x 32 texts give the true gradients to 1e-6, which one batch of 256 is farther from") {
  const data::Text text = repeating_text();
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    Plan plan = of_text(text, kind);
    plan.batch = 256;
    const std::vector<nn::Parameter> parameters = train::make_model(plan, plan.recipe)->parameters();
    const std::vector<std::vector<double>> truth = true_gradients(plan);
    const FirstStep whole(plan);
    plan.batch = 8;
    plan.micro_batches = 32;
    const FirstStep parts(plan);
    INFO("8 x 32: " << apart(parameters, truth, parts) << ", 256: " << apart(parameters, truth, whole));
    CHECK(apart(parameters, truth, parts) <= 1e-6);
    CHECK(apart(parameters, truth, whole) <= 1e-5);
    CHECK(apart(parameters, truth, parts) < apart(parameters, truth, whole));
    CHECK(parts.loss == Approx(whole.loss).epsilon(1e-6));
  }
}

TEST_CASE("accumulation: under autocast and in FP8 the sum is the mean of steps that take one micro-batch") {
  const data::Split data = made_up_split();
  const data::Text text = repeating_text();
  for (Recipe recipe : {recipes::o1, recipes::o2, recipes::fp16_dynamic, recipes::fp8_hybrid}) {
    recipe.gradient = DType::f32;  // sums in 16 bits are rounded
    if (!std::holds_alternative<NoScaling>(recipe.scaling)) recipe.scaling = StaticScaling{256};
    recipe.eight_bits.exempt = {};
    Plan plan = small_plan(data, recipe);
    plan.batch = 8;
    Plan decoder = of_text(text, Kind::decoder);
    decoder.recipe = recipe;
    decoder.batch = 4;
    for (const Plan& of : {plan, decoder}) {
      check_mean_of_steps(of);
      if (!recipe.eight_bits.any()) continue;
      const FirstStep before(of);
      CHECK(std::ranges::any_of(before.scales, [](const auto& scale) { return scale.scale != 1; }));
      check_mean_of_steps(of, &before.state);
    }
  }
}

/// A pixel of 1 overflows in FP16, one below 0.99 does not.
class Bursting : public nn::Model {
 public:
  Bursting(const Recipe& recipe, Rng& rng) : layer_(784, 10, recipe, rng) {}
  Tensor operator()(const Tensor& images) const override {
    return layer_(scale(scale(cast(images, DType::f16), 65535), 1e-5f));
  }
  std::vector<nn::Parameter> parameters() const override { return layer_.parameters("layer 1"); }
  std::string name() const override { return "bursting"; }

 private:
  nn::Linear layer_;
};

TEST_CASE("accumulation: the search for the first infinity names its micro-batch") {
  data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_weights, 3);
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<Bursting>(r, rng); };
  plan.batch = 8;
  for (const std::int64_t parts : {std::int64_t{1}, std::int64_t{4}}) {
    plan.micro_batches = parts;
    const auto holds_it = [&](std::int64_t part) {
      const std::vector<float> pixels = train::make_loader(plan).part(part, parts).images.to_floats();
      return std::ranges::find(pixels, 1.0f) != pixels.end();
    };
    for (std::size_t image = 0; !holds_it(parts / 2); ++image) {
      data = made_up_split();
      data.train.images[784 * image + 400] = 255;
    }
    const OwnRun run;
    const Run found = train::run(plan, run.log());
    REQUIRE_FALSE(found.findings.empty());
    INFO(found.findings.front().sentence);
    const std::string begin = parts == 1 ? "Step 1, forward: " : "Step 1, micro-batch 3 of 4, forward: ";
    CHECK(found.findings.front().sentence.starts_with(
        begin + "scale (before the first layer, f16(8, 784)) gave infinity"));
  }
}

TEST_CASE("accumulation: micro-batches of several sizes are one batch, since each sample counts alike") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data);
  plan.batch = 48;
  const data::Batch all = train::make_loader(plan).part(0, 1);
  const FirstStep whole(plan);
  for (const std::vector<std::int64_t>& sizes : {std::vector<std::int64_t>{20, 20, 8}, {1, 47}, {47, 1}}) {
    std::int64_t first = 0;
    const train::MicroBatches parts{sizes, [&](std::int64_t i) {
                                      const std::int64_t n = sizes[static_cast<std::size_t>(i)], at = first;
                                      first += n;
                                      return data::Batch{
                                          .images = all.images.slice(at * 784, {n, 784}),
                                          .labels = {all.labels.begin() + at, all.labels.begin() + first}};
                                    }};
    INFO(sizes.size() << " micro-batches, the first of " << sizes[0]);
    check_alike(whole, FirstStep(plan, parts), 2e-6);
  }
}

TEST_CASE("accumulation: batch norm's averages move with each micro-batch, as in PyTorch") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 6, 10});
  plan.batch = 16;
  plan.micro_batches = 3;
  const FirstStep step(plan);
  // The averages of the same model after three batches in evaluation of nothing else: m = 0.9 m + 0.1 mean, three times.
  const std::unique_ptr<nn::Model> model = train::make_model(plan, plan.recipe);
  const data::Loader loader = train::make_loader(plan);
  for (int i = 0; i < 3; ++i) {
    const Tape tape;  // no optimizer holds gamma: the averages move at once
    static_cast<void>((*model)(loader.part(i, 3).images));
  }
  const std::vector<Tensor> expected = model->buffers();
  REQUIRE(step.buffers.size() == expected.size());
  REQUIRE_FALSE(expected.empty());
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(bits_equal(step.buffers[i], expected[i]));
}

TEST_CASE(
    "accumulation: a run that was interrupted goes on with the same bits, and a search finds the same") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p30f, .growth_interval = 3};
  Plan plan = saving_plan(data, recipe);
  plan.batch = 8;
  plan.micro_batches = 5;
  plan.histogram_every = plan.shadow_every = 2;
  const Outcome whole = check_resumes(plan, {1, 3, 4});
  CHECK(nlohmann::json::parse(whole.log.front()).at("micro_batches") == 5);
  CHECK(nlohmann::json::parse(whole.log.front()).at("batch") == 8);

  const OwnRun run;
  finish(plan, run);
  Plan other = plan;
  other.micro_batches = 1;
  other.batch = 40;
  other.resume = run.folder.path.string();
  CHECK_ERROR_SAYS("\"batch\" is 8, and here it is 40", train::run(other, run.log()));
  other.batch = 8;
  CHECK_ERROR_SAYS("micro_batches", train::run(other, run.log()));

  Plan broken = plan;
  broken.recipe.scaling = NoScaling{};
  broken.optimizer = sgd(1e30f);
  const OwnRun lost;
  const Run found = train::run(broken, lost.log());
  REQUIRE_FALSE(found.findings.empty());
  CHECK(found.findings.front().sentence.find("could not be traced") == std::string::npos);
  CHECK(found.findings.front().sentence.find("all was finite") == std::string::npos);
}

TEST_CASE("accumulation: a step logs the mean loss, and an epoch counts every sample") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 4);
  plan.batch = 8;
  plan.micro_batches = 6;
  const OwnRun run;
  const Run recorded = train::run(plan, run.log());
  CHECK(recorded.steps[1].epoch == 1);
  plan.batch = 48;
  plan.micro_batches = 1;
  const OwnRun other;
  const Run whole = train::run(plan, other.log());
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(recorded.steps[i].loss == Approx(whole.steps[i].loss).epsilon(1e-5));
    CHECK(recorded.steps[i].grad_norm == Approx(whole.steps[i].grad_norm).epsilon(1e-4));
  }
  CHECK(recorded.header.samples() == whole.header.samples());
  CHECK(train::describe_batch(recorded.header) == "8 x 6");
  // The activations of one micro-batch at a time.
  CHECK(recorded.result->memory.activations * 5 < whole.result->memory.activations);
  plan.micro_batches = 0;
  CHECK_ERROR_SAYS("0 micro-batches make no step", train::run(plan, run.log()));
}

TEST_CASE("accumulation: parts of a batch are the batch") {
  const data::Split data = made_up_split();
  data::Loader loader(data.train, 12, 7, {.crop_and_flip = true});
  loader.skip();
  const data::Loader before = loader;
  std::vector<double> images;
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 3; ++i) {
    const data::Batch part = loader.part(i, 3);
    const std::vector<double> more = part.images.to_doubles();
    images.insert(images.end(), more.begin(), more.end());
    labels.insert(labels.end(), part.labels.begin(), part.labels.end());
  }
  CHECK(loader.position() == before.position());
  const data::Batch whole = loader.next();
  CHECK(images == whole.images.to_doubles());
  CHECK(labels == whole.labels);
  CHECK_ERROR_SAYS("part 0 of 5 equal ones of a batch of 12", loader.part(0, 5));
  CHECK_ERROR_SAYS("part 3 of 3", loader.part(3, 3));
}

}  // namespace
}  // namespace tinymp::test
