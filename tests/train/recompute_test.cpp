#include <tests/autograd/forgetful.h>
#include <tests/kernels/rig.h>
#include <tests/train/resume.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/transformer.h>

// Runs that recompute their blocks have the bits of runs that keep them.
namespace tinymp::test {
namespace {

using Kind = nn::Transformer::Kind;
using nn::Segments;

std::vector<Recipe> recomputed_recipes() {
  Recipe delayed = recipes::fp8_hybrid, current = recipes::fp8_hybrid, random = recipes::fp8_e5m2;
  delayed.eight_bits.exempt = {}, current.eight_bits.exempt = {}, random.eight_bits.exempt = {};
  delayed.eight_bits.history = 2;
  current.eight_bits.scaling = TensorScaling::current;
  random.rounding = {.weights = Rounding::stochastic,
                     .activations = Rounding::stochastic,
                     .errors = Rounding::stochastic,
                     .gradients = Rounding::stochastic};
  random.scaling = StaticScaling{};
  return {recipes::fp32, recipes::fp16_dynamic, recipes::bf16, recipes::o1, delayed, current, random};
}

/// What a run leaves but for its word on segments.
Outcome outcome_of(const Plan& plan) {
  const OwnRun own;
  Outcome outcome = finish(plan, own);
  auto header = nlohmann::ordered_json::parse(outcome.log.front());
  const std::string text = plan.recompute.text();
  CHECK(header.contains("recompute") == !text.empty());
  if (!text.empty()) CHECK(header.at("recompute") == text);
  header.erase("recompute");
  outcome.log.front() = header.dump();
  return outcome;
}

/// A run with each block a segment, and with longer segments, beside one that keeps its activations.
void check_recomputes(Plan plan) {
  plan.saves = true;
  plan.log_every = 1;
  const Outcome kept = outcome_of(plan);
  for (const Segments& segments : {Segments::one_a_block(), Segments::square_root(), Segments::count(1)}) {
    INFO("segments: " << segments.text());
    plan.recompute = segments;
    check_same(kept, outcome_of(plan));
  }
}

Plan image_plan(const data::Split& data, const Recipe& recipe, const train::ModelMaker& model) {
  Plan plan = small_plan(data, recipe, 3);
  plan.model = model;
  plan.optimizer = made<Adam>({.lr = 1e-3f});
  plan.batch = 4;
  return plan;
}

TEST_CASE("recomputation: every model of images has the bits of a run that keeps its activations") {
  const data::Split data = made_up_split();
  const nn::ResNet::Images images{.size = 28, .channels = 1};
  const std::vector<std::pair<const char*, train::ModelMaker>> models{
      {"mlp", train::model_of<nn::Mlp>({784, 8, 7, 6, 10})},
      {"autoencoder", train::model_of<nn::Autoencoder>({784, 8, 6, 784})},
      {"batch norm", train::model_of<nn::BatchNormMlp>({784, 8, 7, 6, 10})},
      {"residual", [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(6, 3, r, rng); }},
      {"lenet", [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); }},
      {"resnet", [=](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResNet>(1, images, r, rng); }}};
  for (const auto& [name, model] : models) {
    for (const Recipe& recipe : recomputed_recipes()) {
      INFO(name << ", " << describe(recipe));
      Plan plan = image_plan(data, recipe, model);
      if (name == std::string("autoencoder")) plan.task = train::Task::reconstruct;
      if (name == std::string("resnet")) plan.steps = 2, plan.batch = 2;
      check_recomputes(plan);
    }
  }
}

const data::Text& recomputed_text() {
  static const data::Text text = [] {
    data::Text made{
        .name = "made up", .vocabulary = {"<unk>", "a", "b", "c", "d"}, .train = {}, .validation = {}};
    Rng rng(4);
    for (int i = 0; i < 74; ++i) made.train.push_back(static_cast<std::int32_t>(rng.below(5)));
    for (int i = 0; i < 13; ++i) made.validation.push_back(static_cast<std::int32_t>(rng.below(5)));
    return made;
  }();
  return text;
}

Plan transformer_plan(Kind kind, const Recipe& recipe, float dropout) {
  Plan plan;
  plan.name = "text";
  plan.recipe = recipe;
  plan.task = train::Task::name_tokens;
  const auto aim = kind == Kind::encoder ? data::TextAim::masked_tokens : data::TextAim::next_token;
  plan.text = train::TextPlan{.text = &recomputed_text(), .aim = aim, .context = 8};
  const nn::TransformerSizes sizes{.words = data::TextExamples::words_of(5, aim),
                                   .context = 8,
                                   .layers = 4,
                                   .width = 8,
                                   .heads = 2,
                                   .dropout = dropout};
  plan.model = [=](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::Transformer>(kind, sizes, r, rng);
  };
  plan.optimizer = made<Adam>({.lr = 0.01f});
  plan.steps = 3;
  plan.batch = 2;
  plan.log_every = 1;
  return plan;
}

TEST_CASE("recomputation: a transformer has the bits of a run that keeps its activations, with dropout too") {
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    for (const Recipe& recipe : recomputed_recipes()) {
      INFO(describe(recipe) << (kind == Kind::decoder ? ", decoder" : ", encoder"));
      check_recomputes(transformer_plan(kind, recipe, 0.1f));
    }
  }
  Plan plan = transformer_plan(Kind::decoder, recipes::fp16_dynamic, 0);
  plan.micro_batches = 2;
  check_recomputes(plan);
}

TEST_CASE("recomputation: a transformer of 24 blocks keeps less than a sixth of the activations") {
  const auto activations = [](const Segments& segments) {
    constexpr std::int64_t context = 12;
    Plan plan = transformer_plan(Kind::decoder, recipes::fp32, 0);
    plan.text->context = context;
    plan.model = [](const Recipe& r, Rng& rng) {
      const nn::TransformerSizes sizes{.words = 5, .context = context, .layers = 24, .width = 16, .heads = 2};
      return std::make_unique<nn::Transformer>(Kind::decoder, sizes, r, rng);
    };
    plan.steps = 2;
    plan.recompute = segments;
    const OwnRun own;
    return static_cast<double>(train::run(plan, own.log()).result->memory.activations);
  };
  const double kept = activations({}), one_a_block = activations(Segments::one_a_block()),
               square_root = activations(Segments::square_root());
  CHECK(kept > 6 * one_a_block);
  CHECK(kept > 3 * square_root);  // 5 segments, of which one has 5 blocks
  CHECK(square_root > one_a_block);
}

/// Three steps of an LSTM over texts of 6 tokens; its segments are steps of time.
std::vector<Tensor> word_steps(const Recipe& recipe, const Segments& segments) {
  constexpr std::int64_t words = 20, width = 8, texts = 3, length = 6;
  Rng rng(11), text(12);
  const nn::LanguageModel model(words, width, recipe, rng);
  Adam optimizer(tensors(model.parameters()), {.lr = 0.01f}, recipe);
  LossScaler scaler(recipe.scaling);
  const Float8Products products(model, recipe, 13);
  std::vector<Tensor> seen;
  for (int step = 0; step < 3; ++step) {
    std::vector<std::int32_t> tokens, next;
    for (std::int64_t n = 0; n < texts * length; ++n) {
      tokens.push_back(static_cast<std::int32_t>(text.below(words)));
      next.push_back(static_cast<std::int32_t>(text.below(words)));
    }
    {
      const Autocast region(recipe);
      products.begin_step();
      const Float8Products::Region in_eight_bits(products);
      Tape tape;
      const Tensor loss = [&] {
        const nn::Recomputing recomputing(segments);
        return cross_entropy(model(tokens, length), next);
      }();
      tape.backward(scaler.scale(loss));
      seen.push_back(loss);
    }
    products.end_step();
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    const std::vector<double> of_step = gradients.tensor().to_doubles();
    seen.push_back(from(of_step, DType::f64));
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  const std::vector<double> weights = optimizer.weights().to_doubles();
  seen.push_back(from(weights, DType::f64));
  for (const Float8Products::Scale& s : products.scales())
    seen.push_back(from({s.scale, s.amax}, DType::f32));
  return seen;
}

TEST_CASE("recomputation: an LSTM in segments of time has the bits of one that keeps its activations") {
  for (const Recipe& recipe : recomputed_recipes()) {
    const std::vector<Tensor> kept = word_steps(recipe, {});
    for (const Segments& segments :
         {Segments::one_a_block(), Segments::square_root(), Segments::count(1), Segments::count(4)}) {
      INFO(describe(recipe) << ", segments: " << segments.text());
      const std::vector<Tensor> recomputed = word_steps(recipe, segments);
      REQUIRE(recomputed.size() == kept.size());
      for (std::size_t i = 0; i < kept.size(); ++i) {
        INFO(i);
        CHECK(bits_equal(recomputed[i], kept[i]));
      }
    }
  }
}

TEST_CASE("recomputation: a run that stops goes on, with other segments and with none, to the same bits") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp16_dynamic);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 8, 7, 6, 10});
  plan.recompute = Segments::one_a_block();
  const Outcome whole = check_resumes(plan, {3, 4});
  for (const Segments& segments : {Segments(), Segments::square_root()}) {
    const OwnRun run;
    Plan stopped = plan;
    stopped.stop = [now = 0]() mutable { return ++now == 3; };
    static_cast<void>(train::run(stopped, run.log()));
    Plan resumed = plan;
    resumed.recompute = segments;
    resumed.resume = run.folder.path.string();
    check_same(whole, finish(resumed, run));  // the log keeps its first line
  }
}

TEST_CASE(
    "recomputation: findings, histograms and the FP32 shadow are those of a run that keeps its activations") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p24f, .growth_interval = 2};
  Plan plan = image_plan(data, recipe, train::model_of<nn::BatchNormMlp>({784, 8, 7, 6, 10}));
  plan.steps = 6;
  plan.shadow_every = 2;
  plan.histogram_every = 3;
  check_recomputes(plan);
  // The weights of the last step are infinite: the search goes back and traces the step.
  plan.recipe = recipes::fp16_weights;
  plan.optimizer = sgd(1e6f);
  plan.optimizer_name = "sgd lr=1e+06";
  check_recomputes(plan);
  plan.recompute = Segments::one_a_block();
  const std::vector<std::string> log = outcome_of(plan).log;
  CHECK(std::ranges::any_of(
      log, [](const std::string& line) { return line.find("\"first bad\"") != std::string::npos; }));
}

/// Counts how often its block runs in FP32.
class Counting : public nn::Model {
 public:
  Counting(const Recipe& recipe, Rng& rng) : layer_(784, 10, recipe, rng) {}
  Tensor operator()(const Tensor& images) const override {
    return nn::run_blocks(1, images, [this](std::int64_t, const Tensor& x) {
      if (layer_.weight.dtype() == DType::f32) ++of_shadow;
      return layer_(cast(x, layer_.weight.dtype()));
    });
  }
  std::int64_t blocks() const override { return 1; }
  std::vector<nn::Parameter> parameters() const override { return layer_.parameters("layer 1"); }
  std::string name() const override { return "counting"; }
  static inline int of_shadow = 0;

 private:
  nn::Linear layer_;
};

TEST_CASE("recomputation: the FP32 shadow recomputes, too, and drops what the run drops") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 1);
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<Counting>(r, rng); };
  plan.validate_every = 0;
  plan.micro_batches = 3;
  for (const auto& [shadow, histogram] : {std::pair{1, 0}, {0, 1}}) {
    plan.shadow_every = shadow;
    plan.histogram_every = histogram;
    for (const bool again : {false, true}) {
      INFO("shadow " << shadow << ", histogram " << histogram << ", recomputed " << again);
      plan.recompute = again ? Segments::one_a_block() : Segments();
      Counting::of_shadow = 0;
      const OwnRun own;
      static_cast<void>(train::run(plan, own.log()));
      CHECK(Counting::of_shadow == (again ? 6 : 3));
    }
  }
  for (const int histogram : {0, 1}) {
    Plan dropping =
        transformer_plan(Kind::decoder, recipes::fp32, 0.2f);  // of FP32 nothing is lost beside FP32
    dropping.recompute = Segments::one_a_block();
    dropping.shadow_every = 1;
    dropping.histogram_every = histogram;
    const OwnRun own;
    for (const train::LogRecord& step : train::run(dropping, own.log()).steps) CHECK(step.flushed == 0);
  }
}

TEST_CASE("recomputation: a run that has nothing to recompute is refused before its log begins") {
  const data::Split data = made_up_split();
  const OwnRun own;
  Plan plan = small_plan(data);
  plan.recompute = Segments::count(2);
  CHECK_SAYS("2 segments of a model that has 1 block; give 1 to 1, or sqrt", train::run(plan, own.log()));
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<Dropping>(r, rng); };
  plan.recompute = Segments::one_a_block();
  CHECK_SAYS("this model names no blocks", train::run(plan, own.log()));
  CHECK_FALSE(fs::exists(own.log()));
}

TEST_CASE("segments: from a text, and of so many blocks") {
  CHECK(Segments::from("blocks").of(24) == 24);
  CHECK(Segments::from("sqrt").of(24) == 5);
  CHECK(Segments::from("sqrt").of(1) == 1);
  CHECK(Segments::from("6").of(24) == 6);
  for (const char* const text : {"blocks", "sqrt", "6"}) CHECK(Segments::from(text).text() == text);
  CHECK(Segments().text().empty());
  for (const char* const text : {"", "0", "-1", "6x", "half", "1e3", "99999999999999999999"}) {
    INFO(text);
    CHECK_SAYS("is no number of segments", Segments::from(text));
  }
  CHECK_SAYS("25 segments of a model that has 24 blocks", Segments::count(25).of(24));
  std::vector<std::int64_t> order;
  const nn::Recomputing region(Segments::count(3));
  Tape tape;
  const Tensor x = from({1, 2}, DType::f32);
  x.set_requires_grad(true);
  const Tensor y = nn::run_blocks(8, x, [&](std::int64_t i, const Tensor& t) {
    order.push_back(i);
    return relu(t);
  });
  CHECK(tape.size() == 3);
  tape.backward(sum(y));
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 5, 6, 7, 2, 3, 4, 0, 1});
}

/// The bits of a run of one step whose second runs forget something.
std::vector<std::uint64_t> forgetful_bits(Plan plan, Forgets what) {
  const nn::Recomputing region(Segments::one_a_block(), [what](Segment segment, std::vector<Tensor> inputs) {
    return recompute_forgetfully(what, segment, std::move(inputs));
  });
  return outcome_of(plan).weights;
}

TEST_CASE(
    "recomputation without autocast, with other masks or with averages that move twice has other bits") {
  Plan plan = transformer_plan(Kind::decoder, recipes::o1, 0.2f);
  plan.steps = 1;
  CHECK(forgetful_bits(plan, Forgets::casts) != outcome_of(plan).weights);
  CHECK(forgetful_bits(plan, Forgets::effects) != outcome_of(plan).weights);

  const data::Split data = made_up_split();
  plan = image_plan(data, recipes::fp32, train::model_of<nn::BatchNormMlp>({784, 8, 10}));
  plan.steps = 1;
  const std::vector<std::uint64_t> kept = outcome_of(plan).weights,
                                   twice = forgetful_bits(plan, Forgets::effects);
  const std::ptrdiff_t averages = 2 * 8;  // behind the parameters
  CHECK(std::equal(kept.begin(), kept.end() - averages, twice.begin()));
  CHECK(kept != twice);
}

}  // namespace
}  // namespace tinymp::test
