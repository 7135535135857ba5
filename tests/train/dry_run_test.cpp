#include <tinymp/train/dry_run.h>

#include <sys/resource.h>

#include <tests/train/resume.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/tensor/storage.h>
#include <algorithm>
#include <chrono>

/// Dry runs against steps that take their memory, and against formulas that are written here.
namespace tinymp::test {
namespace {

using nn::Transformer;
using train::BatchShape;
using train::dry_run;
using train::KeptBytes;
using train::measured_steps;
using train::MemoryUse;
using train::Saved;
using train::Task;

/// A model with batches that fit it.
struct Planned {
  const char* name;
  train::ModelMaker make;
  BatchShape batch;
  Task task = Task::classify;
};

constexpr nn::TransformerSizes small{
    .words = 11, .context = 8, .layers = 2, .width = 16, .heads = 2, .dropout = 0.1f};

train::ModelMaker transformer(Transformer::Kind kind, const nn::TransformerSizes& sizes) {
  return [=](const Recipe& r, Rng& rng) { return std::make_unique<Transformer>(kind, sizes, r, rng); };
}

const std::vector<Planned>& planned() {
  constexpr auto decoder = Transformer::Kind::decoder, encoder = Transformer::Kind::encoder;
  static const auto classifier = [] {
    nn::TransformerSizes sizes = small;
    sizes.classes = 3;
    return sizes;
  }();
  static const std::vector<Planned> all{
      {"mlp", train::model_of<nn::Mlp>({784, 32, 24, 10}), {.pixels = 784}},
      {"autoencoder", train::model_of<nn::Autoencoder>({784, 16, 784}), {.pixels = 784}, Task::reconstruct},
      {"lenet",
       [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); },
       {.pixels = 784}},
      {"resnet20",
       [](const Recipe& r, Rng& rng) {
         return std::make_unique<nn::ResNet>(3, nn::ResNet::Images{}, r, rng);
       },
       {.pixels = 784}},
      {"lstm",
       [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LanguageModel>(30, 12, r, rng); },
       {.steps = 5},
       Task::name_tokens},
      {"decoder", transformer(decoder, small), {.steps = 8}, Task::name_tokens},
      {"encoder", transformer(encoder, small), {.steps = 7, .asked = 2}, Task::name_tokens},
      {"classifier", transformer(encoder, classifier), {.steps = 8, .asked = 1}, Task::name_tokens}};
  return all;
}

Plan plan_of(const Planned& of, const Recipe& recipe, std::int64_t batch, bool adam = true) {
  Plan plan;
  plan.name = of.name;
  plan.recipe = recipe;
  plan.model = of.make;
  plan.task = of.task;
  plan.optimizer = adam ? made<Adam>({}) : sgd(0.1f, 0.9f);
  plan.batch = batch;
  return plan;
}

const Planned& model_named(std::string_view name) {
  return *std::ranges::find(planned(), name, [](const Planned& p) { return std::string_view(p.name); });
}

Recipe delayed() {
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.scaling = TensorScaling::delayed;
  return recipe;
}

Recipe current() {
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.scaling = TensorScaling::current;
  return recipe;
}

std::string text_of(const MemoryUse& use) {
  std::string text = concat("peak ", use.peak, " in ", describe(use.heaviest), ":");
  for (std::size_t i = 0; i < memory_kinds; ++i)
    text +=
        concat(" ", name_of(static_cast<MemoryKind>(i)), " ", use.most.of[i], " (", use.at_peak.of[i], ")");
  for (const KeptBytes& k : use.kept)
    text += concat("\n  ", k.op, " ", k.dtype, k.shape, " ", k.bytes, " in ", k.times);
  return text;
}

void check_equal(const MemoryUse& dry, const MemoryUse& real) {
  INFO("dry:  " << text_of(dry) << "\nreal: " << text_of(real));
  CHECK(dry.peak == real.peak);
  CHECK(dry.most == real.most);
  CHECK(dry.at_peak == real.at_peak);
  CHECK(dry.at_peak.sum() == dry.peak);
  CHECK(describe(dry.heaviest) == describe(real.heaviest));
  REQUIRE(dry.parts.size() == real.parts.size());
  bool same = true;
  for (std::size_t i = 0; i < dry.parts.size(); ++i)
    same = same && describe(dry.parts[i]) == describe(real.parts[i]) &&
           dry.parts[i].then == real.parts[i].then && dry.parts[i].most == real.parts[i].most &&
           dry.parts[i].activations == real.parts[i].activations;
  CHECK(same);
}

/// The most bytes of activations.
std::int64_t activations(const MemoryUse& use) { return use.most[MemoryKind::activations]; }

std::int64_t kept_by(const MemoryUse& use, std::string_view op) {
  std::int64_t bytes = 0;
  for (const KeptBytes& kept : use.kept)
    if (kept.op == op) bytes += kept.bytes;
  return bytes;
}

nn::TransformerSizes bert(bool large, std::int64_t classes) {
  return {.words = 30522,
          .context = 512,
          .layers = large ? 24 : 12,
          .width = large ? 1024 : 768,
          .heads = large ? 16 : 12,
          .dropout = 0.1f,
          .classes = classes};
}

Planned bert_of(bool large, std::int64_t steps) {
  return {"bert",
          transformer(Transformer::Kind::encoder, bert(large, 2)),
          {.steps = steps, .asked = 1},
          Task::name_tokens};
}

MemoryUse dry_run_of(const Planned& of, const Recipe& recipe, std::int64_t batch, Saved saved = Saved::lean) {
  return dry_run(plan_of(of, recipe, batch), train::blank(of.batch), saved);
}

}  // namespace

TEST_CASE("dry run: equal to real steps, every kind, every op, to the byte") {
  for (const Planned& of : planned()) {
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::bf16, recipes::o1,
                                 recipes::o2, recipes::fp8_e5m2, recipes::fp8_hybrid, delayed(), current()}) {
      for (const bool adam : {false, true}) {
        const std::int64_t batch = adam ? 2 : 5;
        INFO(of.name << ", " << describe(recipe) << (adam ? ", adam" : ", sgd") << ", batch " << batch);
        const Plan plan = plan_of(of, recipe, batch, adam);
        const train::BatchMaker batches = train::blank(of.batch);
        check_equal(dry_run(plan, batches), measured_steps(plan, batches));
      }
    }
  }
}

TEST_CASE("dry run: equal to real steps with micro-batches, whose activations are those of one") {
  for (const Planned& of : planned()) {
    for (const Recipe& recipe : {recipes::fp32, recipes::o1, recipes::fp16_dynamic, current()}) {
      INFO(of.name << ", " << describe(recipe));
      Plan plan = plan_of(of, recipe, 3);
      plan.clip = 1;
      const train::BatchMaker batches = train::blank(of.batch);
      const MemoryUse one = dry_run(plan, batches);
      plan.micro_batches = 3;
      const MemoryUse three = dry_run(plan, batches);
      check_equal(three, measured_steps(plan, batches));
      // Scales of FP8 keep some cells more, and batch norm the statistics of each micro-batch until the step.
      const std::int64_t statistics = of.name == std::string_view("resnet20") ? 2 * 2 * 688 * 4 : 0;
      CHECK(activations(three) >= activations(one));
      CHECK(activations(three) < activations(one) + statistics + 2000);
    }
  }
}

TEST_CASE("dry run: equal to real steps that recompute their blocks") {
  for (const Planned& of : planned()) {
    for (const Recipe& recipe : {recipes::fp32, recipes::o1, recipes::fp16_dynamic, delayed()}) {
      INFO(of.name << ", " << describe(recipe));
      Plan plan = plan_of(of, recipe, 3);
      const train::BatchMaker batches = train::blank(of.batch);
      const std::int64_t kept = activations(dry_run(plan, batches));
      plan.recompute = nn::Segments::one_a_block();
      const MemoryUse use = dry_run(plan, batches);
      check_equal(use, measured_steps(plan, batches));
      if (of.name == std::string_view("resnet20")) CHECK(activations(use) * 2 < kept);
    }
  }
}

TEST_CASE("dry run: equal to what train::run writes into its log") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::o1, delayed()}) {
    for (const char* const name : {"mlp", "lenet", "autoencoder"}) {
      INFO(name << ", " << describe(recipe));
      const Planned& of = model_named(name);
      Plan plan = plan_of(of, recipe, 6);
      plan.data = &data;
      plan.steps = 3;
      plan.log_every = 1;
      Scratch scratch;
      const train::RunResult result = train::run(plan, scratch.next()).result.value();
      const MemoryUse use = dry_run(plan, train::blank(train::batch_shape_of(plan)));
      INFO(text_of(use));
      CHECK(use.peak == result.peak_without_scratch);
      CHECK(use.most[MemoryKind::weights] == result.memory.weights);
      CHECK(use.most[MemoryKind::masters] == result.memory.masters);
      CHECK(use.most[MemoryKind::optimizer] == result.memory.optimizer);
      CHECK(use.most[MemoryKind::gradients] == result.memory.gradients);
      CHECK(use.most[MemoryKind::activations] == result.memory.activations);
      CHECK(use.most[MemoryKind::workspace] == result.memory.workspace);
      CHECK(result.memory.scratch > 0);
      CHECK(result.peak_bytes >= result.peak_without_scratch);
      CHECK(use.most[MemoryKind::scratch] == 0);
    }
  }
}

/// What the loss keeps in FP32 under every recipe: of each row the largest logit, a logarithm and the label, and itself.
constexpr std::int64_t of_loss(std::int64_t rows) { return rows * 3 * 4 + 4; }

// Of each image: 784 pixels, 32, 24 and 10 results; the loss keeps the gradients of the 10 logits besides.
TEST_CASE("dry run: the bytes of an MLP are those of its formula") {
  constexpr std::int64_t batch = 100'000, parameters = 784 * 32 + 32 + 32 * 24 + 24 + 24 * 10 + 10;
  const MemoryUse use = dry_run_of(model_named("mlp"), recipes::fp16_dynamic, batch);
  INFO(text_of(use));
  CHECK(use.most[MemoryKind::weights] == parameters * 2);
  CHECK(use.most[MemoryKind::masters] == parameters * 4);
  CHECK(use.most[MemoryKind::optimizer] == parameters * 8);
  CHECK(use.most[MemoryKind::gradients] == parameters * 2);
  CHECK(activations(use) == batch * (784 + 32 + 24 + 10 + 10) * 2 + of_loss(batch));
  CHECK(kept_by(use, "cross_entropy") == batch * 10 * 2 + of_loss(batch));
  CHECK(kept_by(use, "cast") == batch * 784 * 2);
}

// Devlin et al. 2019, section 3: 110 and 340 million parameters, counted here by hand without the embeddings of segments.
TEST_CASE("dry run: the weights of BERT, and its attention, which grows with the square of the sequence") {
  for (const bool large : {false, true}) {
    const nn::TransformerSizes s = bert(large, 2);
    const std::int64_t w = s.width, square = w * w,
                       block = 4 * (square + w) + 2 * 4 * square + 5 * w + 2 * 2 * w,
                       parameters =
                           (s.words + s.context) * w + 2 * w + s.layers * block + square + w + 2 * w + 2;
    CHECK(parameters / 1'000'000 == (large ? 335 : 109));
    for (const std::int64_t steps : {64, 512}) {
      const MemoryUse use = dry_run_of(bert_of(large, steps), recipes::fp32, 4);
      INFO(text_of(use));
      const std::int64_t steps_of_dropout = (3 * s.layers + 2) * 8;
      CHECK(use.most[MemoryKind::weights] == parameters * 4 + steps_of_dropout);
      CHECK(use.most[MemoryKind::optimizer] == parameters * 8);
      // Of each block and text the result, T W numbers, and the probabilities, H T T.
      CHECK(kept_by(use, "attention") == s.layers * 4 * (steps * w + s.heads * steps * steps) * 4);
    }
  }
}

TEST_CASE("dry run: BERT-large takes under a second, and under 100 MB", "[repeats]") {
  const auto resident = [] {
    rusage used{};
    getrusage(RUSAGE_SELF, &used);
    return static_cast<std::int64_t>(used.ru_maxrss) * 1024;
  };
  const std::size_t blocks = pool_statistics().from_system;
  const std::int64_t before = resident();
  const auto start = std::chrono::steady_clock::now();
  const MemoryUse use = dry_run_of(bert_of(true, 512), recipes::fp16_dynamic, 32);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const std::int64_t grown = resident() - before;
  INFO(seconds << " s, " << grown << " bytes for a step of " << use.peak);
  CHECK(use.peak > 25'000'000'000);
  CHECK(seconds < 1);
  CHECK(grown < 100'000'000);
  CHECK(pool_statistics().from_system - blocks <= 4);  // the state of a scaler
}

TEST_CASE("dry run: the FP16 activations of a transformer take half of FP32's, without those of the loss") {
  const std::vector<std::pair<Planned, std::int64_t>> cases{{model_named("decoder"), 16},
                                                            {model_named("encoder"), 16},
                                                            {bert_of(false, 128), 8},
                                                            {bert_of(true, 512), 2}};
  for (const auto& [of, batch] : cases) {
    const MemoryUse wide = dry_run_of(of, recipes::fp32, batch),
                    narrow = dry_run_of(of, recipes::fp16_dynamic, batch);
    INFO(of.name << "\nFP32: " << text_of(wide) << "\nFP16: " << text_of(narrow));
    const std::int64_t rows = batch * (of.batch.asked > 0 ? of.batch.asked : of.batch.steps);
    const double ratio = static_cast<double>(activations(narrow) - of_loss(rows)) /
                         static_cast<double>(activations(wide) - of_loss(rows));
    INFO("ratio " << ratio);
    CHECK(ratio >= 0.5);
    CHECK(ratio <= 0.56);
    const auto gradients_of_logits = [&](const MemoryUse& use) {
      return kept_by(use, "cross_entropy") - of_loss(rows);
    };
    CHECK(gradients_of_logits(wide) == 2 * gradients_of_logits(narrow));
  }
}

TEST_CASE("dry run: what a framework keeps that saves all") {
  const Planned& mlp = model_named("mlp");
  check_equal(dry_run_of(mlp, recipes::fp32, 9, Saved::all), dry_run_of(mlp, recipes::fp32, 9));
  // FP8 lets go of the result of GELU, 4 W numbers of each token in bf16; that of the newest block is still being read.
  const Planned& decoder = model_named("decoder");
  const MemoryUse all = dry_run_of(decoder, recipes::fp8_hybrid, 3, Saved::all),
                  lean = dry_run_of(decoder, recipes::fp8_hybrid, 3);
  INFO("all:  " << text_of(all) << "\nlean: " << text_of(lean));
  constexpr std::int64_t of_gelu = 3 * 8 * 4 * 16 * 2;
  CHECK(kept_by(all, "gelu") == 2 * of_gelu);
  CHECK(kept_by(lean, "gelu") == of_gelu);
  // Of each block the scores in FP32, and with dropout what it leaves of the probabilities.
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic}) {
    for (const float dropout : {0.0f, 0.1f}) {
      nn::TransformerSizes sizes = small;
      sizes.dropout = dropout;
      const Planned of{
          "decoder", transformer(Transformer::Kind::decoder, sizes), {.steps = 8}, Task::name_tokens};
      const MemoryUse more = dry_run_of(of, recipe, 3, Saved::all), less = dry_run_of(of, recipe, 3);
      INFO(describe(recipe) << ", dropout " << dropout << "\nall:  " << text_of(more)
                            << "\nlean: " << text_of(less));
      const std::int64_t scores = 3 * 2 * 8 * 8, width = recipe == recipes::fp32 ? 4 : 2;
      const std::int64_t of_block = scores * 4 + (dropout > 0 ? scores * width : 0);
      CHECK(kept_by(more, "attention") - kept_by(less, "attention") == 2 * of_block);
      CHECK(more.peak > less.peak);
      for (const MemoryKind kind :
           {MemoryKind::weights, MemoryKind::masters, MemoryKind::optimizer, MemoryKind::gradients})
        CHECK(more.most[kind] == less.most[kind]);
      CHECK(more.parts.back().then == less.parts.back().then);  // nothing stays for good
    }
  }
}

TEST_CASE("dry run: the largest batch trains under the budget as its limit, one more does not") {
  for (const char* const name : {"mlp", "lenet", "lstm", "decoder", "encoder"}) {
    const Planned& of = model_named(name);
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::o1}) {
      const train::BatchMaker batches = train::blank(of.batch);
      Plan plan = plan_of(of, recipe, 7);
      const std::int64_t seven = dry_run(plan, batches).peak, budget = seven + 50;
      INFO(name << ", " << describe(recipe) << ", " << budget << " bytes");
      CHECK(train::largest_batch(plan, batches, budget) == 7);
      CHECK(train::largest_batch(plan, batches, seven) == 7);
      CHECK(train::largest_batch(plan, batches, seven - 1) == 6);
      plan.memory_limit = budget;
      CHECK(measured_steps(plan, batches).peak == seven);
      plan.batch = 8;
      CHECK_THROWS_AS(measured_steps(plan, batches), MemoryLimitError);
      CHECK_SAYS(concat("the limit of memory is ", budget, " bytes"), measured_steps(plan, batches));
      CHECK_SAYS("activations ", measured_steps(plan, batches));
      plan.batch = 1;
      const std::int64_t one = dry_run(plan, batches).peak;  // no limit counts there
      CHECK(train::largest_batch(plan, batches, one) >= 1);
      CHECK(train::largest_batch(plan, batches, one - 1) == 0);
    }
  }
}

TEST_CASE("dry run: a run with a limit is refused before it makes a log, with its bytes") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_dynamic, 2);
  const std::int64_t peak = dry_run(plan, train::blank(train::batch_shape_of(plan))).peak;
  plan.memory_limit = peak - 1;
  Scratch scratch;
  const std::string path = scratch.next();
  CHECK_SAYS(concat("takes ", peak, " bytes (weights "), train::run(plan, path));
  CHECK_SAYS("./learn memory", train::run(plan, path));
  CHECK_FALSE(std::filesystem::exists(path));
  plan.memory_limit = peak;
  CHECK(train::run(plan, path).result->peak_without_scratch == peak);
}

TEST_CASE("dry run: what needs values is refused") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data);
  plan.device = Device::meta;
  Scratch scratch;
  CHECK_SAYS("trains on meta", train::run(plan, scratch.next()));
  CHECK_SAYS("call dry_run", measured_steps(plan, train::blank({.pixels = 784})));
  CHECK_SAYS("images or of texts", train::blank({.pixels = 784, .steps = 3}));
  CHECK_SAYS("images or of texts", train::blank({}));
  CHECK_SAYS("are asked for", train::blank({.steps = 3, .asked = 4}));
  CHECK_SAYS("lacks its model", dry_run(Plan(), train::blank({.pixels = 784})));
  plan.batch = 0;
  CHECK_SAYS("a batch of 0", dry_run(plan, train::blank({.pixels = 784})));
}

}  // namespace tinymp::test
