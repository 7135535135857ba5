#include <tests/cuda/device.h>
#include <tests/cuda/near.h>
#include <tests/kernels/rig.h>
#include <tests/train/resume.h>
#include <tinymp/nn/transformer.h>

/// Training runs of transformers on Device::cuda, eager and as a graph, beside the same runs on the CPU.
namespace tinymp::test {
namespace {

using Kind = nn::Transformer::Kind;

const data::Text& short_text() {
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

/// Six steps of two texts, over more than an epoch.
Plan transformer_plan(Kind kind, const Recipe& recipe, std::int64_t context, std::int64_t width) {
  Plan plan;
  plan.name = "text";
  plan.recipe = recipe;
  plan.task = train::Task::name_tokens;
  const auto aim = kind == Kind::encoder ? data::TextAim::masked_tokens : data::TextAim::next_token;
  plan.text = train::TextPlan{.text = &short_text(), .aim = aim, .context = context};
  const nn::TransformerSizes sizes{.words = data::TextExamples::words_of(5, aim),
                                   .context = context,
                                   .layers = 1,
                                   .width = width,
                                   .heads = 2,
                                   .dropout = 0.1f};
  plan.model = [=](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::Transformer>(kind, sizes, r, rng);
  };
  plan.optimizer = made<Adam>({.lr = 0.01f});
  plan.steps = 6;
  plan.batch = 2;
  plan.saves = true;
  plan.log_every = 2;
  return plan;
}

/// The weights after a run with SGD: Adam moves a weight by lr however small its gradient, and so by twice that where
/// another sum gives it another sign.
std::vector<double> after_sgd(Plan plan, Device device) {
  plan.device = device, plan.graph = device == Device::cuda;
  plan.optimizer = made<Sgd>({.lr = 0.1f});
  const OwnRun run;
  std::vector<double> all;
  for (const std::uint64_t bits : finish(plan, run).weights) all.push_back(std::bit_cast<double>(bits));
  return all;
}

void check_everywhere(Plan plan) {
  const OwnRun here;
  const Outcome expected = finish(plan, here);
  plan.device = Device::cuda;
  const OwnRun eager;
  const Outcome there = finish(plan, eager);
  plan.graph = true;
  const OwnRun recorded;
  const Outcome as_graph = finish(plan, recorded);
  CHECK(as_graph.weights == there.weights);
  CHECK(as_graph.checkpoints == there.checkpoints);
  if (!adds_as_cpu()) {
    check_near(after_sgd(plan, Device::cuda), after_sgd(plan, Device::cpu), 5e-3);
    return;
  }
  CHECK(there.weights == expected.weights);
  CHECK(there.checkpoints == expected.checkpoints);
}

TEST_CASE("Transformer: a run has the bits of the CPU, eager and as a graph: FP32 and FP16") {
  NEEDS_CUDA();
  for (const Kind kind : {Kind::decoder, Kind::encoder}) {
    INFO((kind == Kind::decoder ? "decoder" : "encoder"));
    check_everywhere(transformer_plan(kind, recipes::fp32, 8, 6));
    check_everywhere(transformer_plan(kind, recipes::fp16_dynamic, 8, 8));
    train::Plan in_parts = transformer_plan(kind, recipes::fp16_dynamic, 8, 8);
    in_parts.micro_batches = 2;
    check_everywhere(in_parts);
  }
}

TEST_CASE(
    "Transformer: a run has the bits of the CPU, eager and as a graph: O1, BF16 and rows that are not "
    "aligned") {
  NEEDS_CUDA();
  constexpr Recipe bf16{.compute = DType::bf16, .gradient = DType::bf16};
  check_everywhere(transformer_plan(Kind::decoder, recipes::o1, 8, 16));
  check_everywhere(transformer_plan(Kind::decoder, bf16, 9, 6));  // 9 and 3 are odd: no tensor core
}

TEST_CASE(
    "Transformer: a run that recomputes its blocks has the bits of one that keeps them, eager and as a "
    "graph") {
  NEEDS_CUDA();
  Recipe delayed = recipes::fp8_hybrid, random = recipes::fp8_e5m2;
  delayed.eight_bits.exempt = {}, random.eight_bits.exempt = {};
  random.rounding.activations = random.rounding.weights = random.rounding.errors = Rounding::stochastic;
  for (const Recipe& recipe : {recipes::o1, delayed, random}) {
    INFO(describe(recipe));
    Plan plan = transformer_plan(Kind::decoder, recipe, 8, 16);
    plan.device = Device::cuda;
    const OwnRun keeping, eager, recorded;
    const Outcome kept = finish(plan, keeping);
    plan.recompute = nn::Segments::one_a_block();
    const Outcome recomputed = finish(plan, eager);
    plan.graph = true;
    const Outcome as_graph = finish(plan, recorded);
    CHECK(recomputed.weights == kept.weights);
    CHECK(recomputed.checkpoints == kept.checkpoints);
    CHECK(as_graph.weights == kept.weights);
    CHECK(as_graph.checkpoints == kept.checkpoints);
  }
}

}  // namespace
}  // namespace tinymp::test
