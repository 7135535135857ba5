#include <tinymp/train/dry_run.h>

#include <sys/resource.h>

#include <tests/train/dry_runs.h>
#include <tinymp/tensor/storage.h>
#include <chrono>

/// Dry runs against formulas that are written here, and the limits that follow from them. Against real steps:
/// dry_run_steps_test.cpp.
namespace tinymp::test {
namespace {

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

// Autocast keeps a copy of each parameter, and adds up the gradients of the copies in FP32; these are no activations.
TEST_CASE("dry run: the activations of an MLP under autocast are those of its formula") {
  constexpr std::int64_t batch = 2, parameters = 784 * 32 + 32 + 32 * 24 + 24 + 24 * 10 + 10;
  const MemoryUse use = dry_run_of(model_named("mlp"), recipes::o1, batch);
  INFO(text_of(use));
  CHECK(activations(use) ==
        parameters * 2 + batch * (784 + 32 + 24 + 10) * 2 + batch * (10 + 10) * 4 + of_loss(batch));
  CHECK(use.most[MemoryKind::gradients] == 2 * parameters * 4);
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

/// A decoder whose scores are most of what it makes.
Planned long_decoder() {
  nn::TransformerSizes sizes = small;
  sizes.context = 2048;
  return {"long decoder", transformer(Transformer::Kind::decoder, sizes), {.steps = 2048}, Task::name_tokens};
}

std::int64_t sum_of_kept(const MemoryUse& use) {
  std::int64_t sum = 0;
  for (const KeptBytes& kept : use.kept) sum += kept.bytes;
  return sum;
}

TEST_CASE("dry run: the ops hold all activations when these are most") {
  std::vector<Planned> models = planned();
  models.push_back(long_decoder());
  models.push_back(bert_of(false, 512));
  for (const Planned& of : models) {
    for (const Recipe& recipe : {recipes::fp32, recipes::o1, recipes::fp16_dynamic, delayed(), current()}) {
      for (const nn::Segments& segments :
           {nn::Segments(), nn::Segments::one_a_block(), nn::Segments::square_root()}) {
        for (const Saved saved : {Saved::lean, Saved::all}) {
          Plan plan = plan_of(of, recipe, 2);
          plan.recompute = segments;
          plan.micro_batches = 2;
          const MemoryUse use = dry_run(plan, train::blank(of.batch), saved);
          INFO(of.name << ", " << describe(recipe) << ", " << segments.text()
                       << (saved == Saved::all ? ", all\n" : "\n") << text_of(use));
          CHECK(sum_of_kept(use) == activations(use));
        }
      }
    }
  }
}

// A segment that runs again keeps what its block keeps without recomputation; all other blocks keep their inputs.
TEST_CASE("dry run: what a segment makes that runs again stands beside its op") {
  const Planned& of = model_named("decoder");
  Plan plan = plan_of(of, recipes::fp32, 3);
  const MemoryUse kept = dry_run(plan, train::blank(of.batch));
  plan.recompute = nn::Segments::one_a_block();
  const MemoryUse use = dry_run(plan, train::blank(of.batch));
  INFO("kept: " << text_of(kept) << "\nrecomputed: " << text_of(use));
  CHECK(kept_by(use, "attention, again") * 2 == kept_by(kept, "attention"));
  CHECK(kept_by(use, "gelu, again") * 2 == kept_by(kept, "gelu"));
  CHECK(kept_by(use, "attention") == 0);
  // In a long text the scores are most, while attention runs: of one block in FP32.
  const Planned longer = long_decoder();
  const MemoryUse most = dry_run(plan_of(longer, recipes::fp32, 1), train::blank(longer.batch));
  INFO("long: " << text_of(most));
  constexpr std::int64_t scores = 2 * 2048 * 2048 * 4, results = 2048 * 16 * 4;
  CHECK(kept_by(most, "attention") >=
        3 * scores);  // the probabilities of two blocks, the scores of the second
  CHECK(kept_by(most, "attention") <= 4 * scores + 2 * results);
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

// The second run of a block is forward like any other; the first keeps its input alone.
TEST_CASE("dry run: a framework that saves all, and recomputes, saves what a segment makes the second time") {
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::fp8_hybrid}) {
    for (const std::int64_t micro_batches : {1, 3}) {
      const Planned& of = model_named("decoder");
      Plan plan = plan_of(of, recipe, 3);
      plan.micro_batches = micro_batches;
      plan.recompute = nn::Segments::one_a_block();
      const train::BatchMaker batches = train::blank(of.batch);
      const MemoryUse all = dry_run(plan, batches, Saved::all), lean = dry_run(plan, batches);
      INFO(describe(recipe) << "\nall:  " << text_of(all) << "\nlean: " << text_of(lean));
      const std::int64_t scores = 3 * 2 * 8 * 8, width = recipe == recipes::fp32 ? 4 : 2,
                         let_go =
                             recipe == recipes::fp8_hybrid ? 3 * 8 * 16 * 2 : 0;  // the result became FP8
      CHECK(kept_by(all, "attention, again") - kept_by(lean, "attention, again") ==
            scores * (4 + width) + let_go);
      plan.recompute = {};
      const MemoryUse whole = dry_run(plan, batches, Saved::all);
      INFO("whole: " << text_of(whole));
      CHECK(kept_by(all, "attention, again") * 2 == kept_by(whole, "attention"));
      CHECK(all.parts.back().then == lean.parts.back().then);  // nothing stays for good
    }
  }
}

/// Blocks that begin with attention: what it makes inside is given back before the second run has told of an op.
class Attending : public nn::Model {
 public:
  Attending(const Recipe& recipe, Rng& rng) : first_(16, 16, recipe, rng), last_(784, 10, recipe, rng) {}
  Tensor operator()(const Tensor& images) const override {
    const std::int64_t rows = images.shape()[0] * 49;
    const Tensor x = reshape(first_(reshape(images, {rows, 16})), {images.shape()[0], 49, 16});
    const Tensor y =
        nn::run_blocks(blocks(), x, [](std::int64_t, const Tensor& t) { return attention(t, t, t, {}); });
    return last_(reshape(y, {images.shape()[0], 784}));
  }
  std::int64_t blocks() const override { return 2; }
  std::vector<nn::Parameter> parameters() const override {
    std::vector<nn::Parameter> list;
    append(list, {first_.parameters("layer 1"), last_.parameters("layer 2")});
    return list;
  }
  std::string name() const override { return "attending"; }

 private:
  nn::Linear first_, last_;
};

TEST_CASE("dry run: of a framework that saves all, the first op of a segment saves what it makes, too") {
  const Planned of{"attending",
                   [](const Recipe& r, Rng& rng) { return std::make_unique<Attending>(r, rng); },
                   {.pixels = 784}};
  Plan plan = plan_of(of, recipes::fp32, 3);
  plan.recompute = nn::Segments::one_a_block();
  const train::BatchMaker batches = train::blank(of.batch);
  const MemoryUse again = dry_run(plan, batches, Saved::all);
  plan.recompute = {};
  const MemoryUse whole = dry_run(plan, batches, Saved::all);
  INFO("again: " << text_of(again) << "\nwhole: " << text_of(whole));
  constexpr std::int64_t scores = 3 * 49 * 49 * 4, results = 3 * 784 * 4;
  CHECK(kept_by(again, "attention, again") == 2 * scores + results);  // before the softmax, and behind it
  CHECK(kept_by(whole, "attention") == 2 * (2 * scores + results));
}

TEST_CASE("dry run: what a framework keeps that saves all, of an LSTM and of micro-batches") {
  for (const char* const name : {"lstm", "lenet", "decoder"}) {
    const Planned& of = model_named(name);
    Plan plan = plan_of(of, recipes::fp16_dynamic, 3);
    const train::BatchMaker batches = train::blank(of.batch);
    const MemoryUse one = dry_run(plan, batches, Saved::all);
    CHECK(activations(one) >= activations(dry_run(plan, batches)));
    plan.micro_batches = 3;
    const MemoryUse three = dry_run(plan, batches, Saved::all);
    INFO(name << "\none:   " << text_of(one) << "\nthree: " << text_of(three));
    CHECK(activations(three) >= activations(one));
    CHECK(activations(three) < activations(one) + 100);
    CHECK(three.parts.back().then == dry_run(plan, batches).parts.back().then);
  }
}

TEST_CASE("dry run: the largest batch of many micro-batches is that of a search through all") {
  for (const char* const name : {"resnet20", "decoder"}) {
    const Planned& of = model_named(name);
    for (const Recipe& recipe : {recipes::fp32, current()}) {
      Plan plan = plan_of(of, recipe, 4);
      plan.micro_batches = 12;
      const train::BatchMaker batches = train::blank(of.batch);
      const std::int64_t four = dry_run(plan, batches).peak;
      INFO(name << ", " << describe(recipe) << ", " << four << " bytes");
      CHECK(train::largest_batch(plan, of.batch, four) == 4);
      CHECK(train::largest_batch(plan, of.batch, four - 1) == 3);
      plan.batch = 1;
      CHECK(train::largest_batch(plan, of.batch, dry_run(plan, batches).peak - 1) == 0);
    }
  }
}

TEST_CASE(
    "dry run: no batch has more than 2^24 images, more than 2^31 - 1 tokens, or more than 2^24 labels") {
  constexpr std::int64_t images = 1 << 24, texts = (std::int64_t{1} << 31) / 4096 - 1;
  CHECK(train::most_in_batch({.pixels = 784}) == images);
  CHECK(train::most_in_batch({.steps = 8}) == images / 8);
  CHECK(train::most_in_batch({.steps = 8, .asked = 2}) == images / 2);
  CHECK(train::most_in_batch({.steps = 4096, .asked = 1}) == texts);
  nn::TransformerSizes sizes = small;
  sizes.context = 4096, sizes.classes = 3;
  const Planned of{"classifier",
                   transformer(Transformer::Kind::encoder, sizes),
                   {.steps = 4096, .asked = 1},
                   Task::name_tokens};
  const Plan plan = plan_of(of, recipes::fp32, texts);
  CHECK(train::largest_batch(plan, of.batch, 1'000'000'000'000'000'000) == texts);
  CHECK(train::largest_batch(plan, of.batch, dry_run(plan, train::blank(of.batch)).peak - 1) == texts - 1);
  CHECK_SAYS(concat("a batch of ", texts + 1, " texts of 4096 tokens is too large; take at most ", texts),
             train::blank(of.batch)(texts + 1, Device::meta));
  CHECK_SAYS("take at most 16777216", train::blank({.pixels = 784})(images + 1, Device::meta));
}

// Transformer Engine keeps 1024 amax of each of the three tensors of a product.
TEST_CASE("dry run: the histories of delayed scales count as optimizer") {
  for (const char* const name : {"mlp", "decoder"}) {
    const Planned& of = model_named(name);
    Recipe recipe = delayed();
    recipe.eight_bits.history = 100;
    Plan plan = plan_of(of, recipe, 2);
    plan.device = Device::meta;
    const std::unique_ptr<nn::Model> model = train::make_model(plan, recipe);
    const auto weights = static_cast<std::int64_t>(train::make_products(plan, *model).covered());
    CHECK(weights > 0);
    const MemoryUse use = dry_run_of(of, recipe, 2), other = dry_run_of(of, current(), 2);
    // The history, the place of the next, the scale, the newest amax.
    CHECK(use.most[MemoryKind::optimizer] - other.most[MemoryKind::optimizer] ==
          3 * weights * (100 * 4 + 8 + 4 + 4));
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
      CHECK(train::largest_batch(plan, of.batch, budget) == 7);
      CHECK(train::largest_batch(plan, of.batch, seven) == 7);
      CHECK(train::largest_batch(plan, of.batch, seven - 1) == 6);
      plan.memory_limit = budget;
      CHECK(measured_steps(plan, batches).peak == seven);
      plan.batch = 8;
      CHECK_THROWS_AS(measured_steps(plan, batches), MemoryLimitError);
      CHECK_SAYS(concat("the limit of memory is ", budget, " bytes"), measured_steps(plan, batches));
      CHECK_SAYS("activations ", measured_steps(plan, batches));
      CHECK_SAYS("; a smaller --batch, --recompute or narrower formats", measured_steps(plan, batches));
      plan.batch = 1;
      const std::int64_t one = dry_run(plan, batches).peak;  // no limit counts there
      CHECK(train::largest_batch(plan, of.batch, one) >= 1);
      CHECK(train::largest_batch(plan, of.batch, one - 1) == 0);
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
  CHECK_SAYS("--recompute or narrower formats take less, and ./learn memory", train::run(plan, path));
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
