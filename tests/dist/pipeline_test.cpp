#include <tests/base/says.h>
#include <tests/dist/training.h>
#include <tinymp/train/safetensors.h>

/// A model whose blocks lie in several ranks trains with the bits of one process.
namespace tinymp::test {
namespace {

constexpr auto decoder = nn::Transformer::Kind::decoder, encoder = nn::Transformer::Kind::encoder;

/// All tensors of a checkpoint but those of the search for faults, which a pipeline does without; its step and its scale.
std::map<std::string, std::string> state_in(const std::string& path) {
  const train::Safetensors contents = train::load_safetensors(path);
  std::map<std::string, std::string> state;
  for (const auto& [name, tensor] : contents.tensors)
    if (!name.starts_with("tinymp.past"))
      state[name] = std::string(reinterpret_cast<const char*>(tensor.bytes.data()), tensor.bytes.size());
  for (const char* const key : {"tinymp.plan", "tinymp.moment"}) state[key] = contents.metadata.at(key);
  return state;
}

/// A log without the lines of what was found.
std::vector<std::string> steps_of(const std::string& path) {
  std::vector<std::string> lines = log_of(path);
  std::erase_if(lines, [](const std::string& line) { return line.starts_with(R"({"finding")"); });
  return lines;
}

struct Left {
  std::map<std::string, std::map<std::string, std::string>> checkpoints;
  std::vector<std::string> log;
  std::vector<std::uint64_t> weights;
};

Left left_by(const OwnRun& run, const nn::Model& model) {
  Left left{{}, steps_of(run.log()), bits_of(model)};
  for (const auto& [name, bytes] : checkpoints_in(run.folder.path))
    left.checkpoints[name] = state_in((run.folder.path / name).string());
  return left;
}

Left train_alone(const Plan& plan) {
  const OwnRun run;
  std::unique_ptr<nn::Model> model;
  train::run(plan, run.log(), {}, &model);
  return left_by(run, *model);
}

Left train_in_stages(const Plan& plan, int count, const OwnRun& run) {
  std::unique_ptr<nn::Model> model;
  on_ranks(count, [&](dist::Transport& ranks) {
    Plan shared = plan;
    shared.ranks = &ranks;
    shared.pipeline = true;
    const train::Run made = train::run(shared, run.log(), {}, ranks.rank() == 0 ? &model : nullptr);
    if (ranks.rank() == 0 && made.waited.size() != static_cast<std::size_t>(count))
      throw Error("the run does not tell how long each rank waited");
  });
  REQUIRE(model);
  return left_by(run, *model);
}

void check_same(const Left& expected, const Left& left) {
  CHECK(left.log == expected.log);
  CHECK(left.weights == expected.weights);
  REQUIRE(left.checkpoints.size() == expected.checkpoints.size());
  for (const auto& [name, state] : expected.checkpoints) {
    REQUIRE(left.checkpoints.contains(name));
    const auto& other = left.checkpoints.at(name);
    CHECK(other.size() == state.size());
    for (const auto& [key, bytes] : state) {
      INFO(name << ": " << key);
      CHECK((other.contains(key) && other.at(key) == bytes));
    }
  }
}

void check_in_stages(Plan plan, std::initializer_list<int> counts = {1, 2, 3, 4},
                     std::initializer_list<int> micro_batches = {1, 2, 4}) {
  for (const int m : micro_batches) {
    plan.micro_batches = m;
    const Left expected = train_alone(plan);
    for (const int count : counts) {
      INFO(plan.name << ", " << describe(plan.recipe) << ", " << count << " stages, " << m
                     << " micro-batches");
      const OwnRun run;
      check_same(expected, train_in_stages(plan, count, run));
    }
  }
}

/// S begins where FP16 overflows, so that the first steps are skipped; then it grows every other step.
Recipe moving_scale() {
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p24f, .growth_interval = 2};
  return recipe;
}

std::vector<Recipe> usual_recipes() {
  return {recipes::fp32, recipes::fp16_static, moving_scale(), recipes::o1};
}

/// Four blocks with dropout, so that four ranks have one each.
nn::TransformerSizes four_blocks(const data::Text& text, data::TextAim aim) {
  nn::TransformerSizes sizes = small;
  sizes.layers = 4;
  sizes.words = data::TextExamples::words_of(std::ssize(text.vocabulary), aim);
  return sizes;
}

Plan plan_of_text(const data::Text& text, const Recipe& recipe, nn::Transformer::Kind kind) {
  const auto aim = kind == encoder ? data::TextAim::masked_tokens : data::TextAim::next_token;
  Plan plan = of_text(text, recipe, transformer(kind, four_blocks(text, aim)), aim);
  plan.optimizer = made<AdamW>({.lr = 0.01f});
  plan.clip = 0.5f;
  plan.validate_every = 3;
  plan.steps = 5;
  return plan;
}

TEST_CASE("pipeline: the bits of one process, for stages and micro-batches of every number") {
  const data::Text text = made_up_text();
  for (const Recipe& recipe : usual_recipes())
    for (const auto kind : {decoder, encoder}) check_in_stages(plan_of_text(text, recipe, kind));
}

TEST_CASE("pipeline: the bits of one process, without clipping, with momentum, and where blocks run again") {
  const data::Text text = made_up_text();
  for (const Recipe& recipe : usual_recipes()) {
    Plan plan = plan_of_text(text, recipe, decoder);
    plan.clip = 0;
    plan.optimizer = sgd(0.05f, 0.9f);
    plan.log_every = 1;
    check_in_stages(plan, {3}, {2});
    plan.recompute = nn::Segments::one_a_block();
    check_in_stages(plan, {2}, {3});
  }
}

/// In some micro-batches the gradient of block 0 becomes infinite, on its way to the first rank alone.
class Planted final : public nn::Transformer {
 public:
  using Transformer::Transformer;
  Tensor block(std::int64_t i, const Tensor& x, const Texts& texts) const override {
    const bool overflows = i == 0 && texts.tokens.view()[0] <= 2;
    const auto as_it_is = [](float v) { return v; };
    const auto steep = [](float, float) { return std::numeric_limits<float>::infinity(); };
    return Transformer::block(i, overflows ? each("cast", x, as_it_is, steep) : x, texts);
  }
};

TEST_CASE("pipeline: an overflow on one rank skips the step of all, and S moves once") {
  const data::Text text = made_up_text();
  for (const Recipe& recipe : {recipes::fp16_static, recipes::fp16_dynamic}) {
    Plan plan = plan_of_text(text, recipe, decoder);
    plan.model = [sizes = four_blocks(text, data::TextAim::next_token)](const Recipe& r, Rng& rng) {
      return std::make_unique<Planted>(decoder, sizes, r, rng);
    };
    plan.steps = 12;
    plan.micro_batches = 2;
    const OwnRun own;
    const Run run = train::run(plan, own.log());
    if (recipe == recipes::fp16_dynamic) {
      CHECK(run.result->skipped >= 2);
      CHECK(run.result->taken >= 2);
    } else {
      CHECK(run.result->first_nonfinite_step > 1);
    }
    check_in_stages(plan, {2, 4}, {2});
  }
}

TEST_CASE("pipeline: a run goes on with another number of stages, or without") {
  const data::Text text = made_up_text();
  for (const Recipe& recipe : {recipes::fp32, moving_scale()}) {
    Plan plan = plan_of_text(text, recipe, decoder);
    plan.micro_batches = 2;
    const Left expected = train_alone(plan);
    for (const auto& [before, after] : {std::pair{3, 2}, {2, 4}, {4, 0}, {0, 3}}) {  // 0: without ranks
      INFO(before << " stages, then " << after);
      const OwnRun run;
      const auto stopped = [&](dist::Transport* ranks) {
        Plan part = plan;
        part.ranks = ranks;
        part.pipeline = ranks != nullptr;
        // One rank is asked to stop, and stops all after the same step.
        if (ranks == nullptr || ranks->rank() == 1) part.stop = [now = 0]() mutable { return ++now == 3; };
        train::run(part, run.log());
      };
      if (before == 0)
        stopped(nullptr);
      else
        on_ranks(before, [&](dist::Transport& ranks) { stopped(&ranks); });
      CHECK(train::step_of_checkpoint(run.newest()) == 3);
      Plan resumed = plan;
      resumed.resume = run.folder.path.string();
      if (after > 0) {
        check_same(expected, train_in_stages(resumed, after, run));
      } else {
        std::unique_ptr<nn::Model> model;
        train::run(resumed, run.log(), {}, &model);
        check_same(expected, left_by(run, *model));
      }
      // There is nothing left to do.
      on_ranks(2, [&](dist::Transport& ranks) {
        Plan over = resumed;
        over.ranks = &ranks;
        over.pipeline = true;
        train::run(over, run.log());
      });
    }
  }
}

TEST_CASE("pipeline: a rank keeps its own part alone") {
  const data::Text text = made_up_text();
  Plan plan = plan_of_text(text, recipes::fp16_static, decoder);
  const auto bytes_in = [&](int count) {
    std::int64_t bytes = 0;
    on_ranks(count, [&](dist::Transport& ranks) {
      Plan shared = plan;
      shared.ranks = &ranks;
      shared.pipeline = true;
      const OwnRun run;
      const train::Run made = train::run(shared, run.log());
      if (ranks.rank() != 0) return;
      const train::MemoryBytes& memory = made.result->memory;
      bytes = memory.weights + memory.masters + memory.optimizer + memory.gradients;
    });
    return bytes;
  };
  // 4 blocks of 3,280 parameters each; the table has 11 x 16 and the positions 8 x 16. FP16 weights and gradients, FP32 masters
  // and two FP32 moments take 16 bytes a parameter.
  CHECK(bytes_in(1) - bytes_in(4) >= 3 * 3280 * 16);
  CHECK(bytes_in(4) <= bytes_in(1) / 3);
}

TEST_CASE("pipeline: a rank that dies is named") {
  const data::Text text = made_up_text();
  const OwnRun run;
  const dist::ThreadRanks threads(3);
  const std::vector<std::string> messages = messages_on_ranks(threads, 3, [&](dist::Transport& ranks) {
    Plan plan = plan_of_text(text, recipes::fp32, decoder);
    plan.ranks = &ranks;
    plan.pipeline = true;
    plan.stop = [rank = ranks.rank(), now = 0]() mutable -> bool {
      if (rank == 1 && ++now == 3) throw Error("out of memory");
      return false;
    };
    train::run(plan, run.log());
  });
  CHECK(messages[0] == "rank 1: out of memory");
  CHECK(messages[1] == "out of memory");
  CHECK(messages[2] == "rank 1: out of memory");
  CHECK(train::step_of_checkpoint(run.newest()) == 2);
}

TEST_CASE("pipeline: what cannot run as one is refused") {
  const data::Text text = made_up_text();
  const data::Split data = made_up_split();
  const auto says = [&](const std::string& words, const Plan& plan, int count = 1) {
    const OwnRun run;
    const dist::ThreadRanks threads(count);
    for (const std::string& message : messages_on_ranks(threads, count, [&](dist::Transport& ranks) {
           Plan shared = plan;
           shared.ranks = &ranks;
           shared.pipeline = true;
           train::run(shared, run.log());
         })) {
      INFO(message);
      CHECK(message.find(words) != std::string::npos);
    }
  };
  const Plan plan = plan_of_text(text, recipes::fp32, decoder);
  says("has 4 blocks, and a pipeline of 5 ranks needs one for each", plan, 5);
  says("its products are in FP8", plan_of_text(text, recipes::fp8_hybrid, decoder));
  says("it rounds stochastically", plan_of_text(text, recipe_from_name("bf16_sr"), decoder));
  says("its model is one of images", saving_plan(data, recipes::fp32));
  Plan other = plan;
  other.model = model_named("lstm").make;
  says("has no parts that could lie in several processes", other);
  other = plan;
  other.shadow_every = 2;
  says("an FP32 shadow", other);
  other = plan;
  other.memory_limit = 1 << 30;
  says("a limit of memory", other);
  other = plan;
  other.pipeline = true;
  const OwnRun run;
  CHECK_SAYS("names no ranks", train::run(other, run.log()));
}

}  // namespace
}  // namespace tinymp::test
