#include <tests/train/dry_runs.h>
#include <tinymp/train/step.h>

/// Dry runs against steps that take their memory.
namespace tinymp::test {

namespace {

struct Step {
  const char* name;
  train::OptimizerMaker optimizer;
};

const std::vector<Step>& optimizers() {
  static const std::vector<Step> all{{"sgd", sgd(0.1f, 0.9f)},
                                     {"adam", made<Adam>({})},
                                     {"adamw", made<AdamW>({.weight_decay = 0.01f})},
                                     {"adagrad", made<Adagrad>({})}};
  return all;
}

const data::Text& made_up_text() {
  static const data::Text text = [] {
    data::Text made{
        .name = "made up", .vocabulary = {"<unk>", "a", "b", "c", "d"}, .train = {}, .validation = {}};
    Rng rng(4);
    for (int i = 0; i < 400; ++i) made.train.push_back(static_cast<std::int32_t>(rng.below(5)));
    for (int i = 0; i < 40; ++i) made.validation.push_back(static_cast<std::int32_t>(rng.below(5)));
    return made;
  }();
  return text;
}

/// A run of three steps, each of which is logged.
Plan run_of(const char* name, const data::Split& data, const Recipe& recipe) {
  Plan plan = plan_of(model_named(name), recipe, 6);
  plan.steps = 3;
  plan.log_every = 1;
  if (plan.task != Task::name_tokens) {
    plan.data = &data;
    return plan;
  }
  const bool masks = name == std::string_view("encoder");
  const auto aim = masks ? data::TextAim::masked_tokens : data::TextAim::next_token;
  plan.text = train::TextPlan{.text = &made_up_text(), .aim = aim, .context = 8};
  nn::TransformerSizes sizes = small;
  sizes.words = data::TextExamples::words_of(5, aim);
  plan.model = transformer(masks ? Transformer::Kind::encoder : Transformer::Kind::decoder, sizes);
  return plan;
}

void check_run(const Plan& plan) {
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

}  // namespace

TEST_CASE("dry run: equal to real steps, every kind, every op, to the byte") {
  std::size_t next = 0;
  for (const Planned& of : planned()) {
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::bf16, recipes::bf16_weights,
                                 recipes::bf16_kahan, recipes::bf16_sr, recipes::o1, recipes::o2, recipes::o3,
                                 recipes::fp8_e5m2, recipes::fp8_hybrid, delayed(), current()}) {
      for (const std::int64_t batch : {2, 5}) {
        const Step& step = optimizers()[next++ % optimizers().size()];  // 26 a model: each recipe meets two
        INFO(of.name << ", " << describe(recipe) << ", " << step.name << ", batch " << batch);
        Plan plan = plan_of(of, recipe, batch);
        plan.optimizer = step.optimizer;
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
      const train::BatchMaker batches = train::blank(of.batch);
      Plan plan = plan_of(of, recipe, 3);
      const std::int64_t kept = activations(dry_run(plan, batches));
      for (const nn::Segments& segments : {nn::Segments::one_a_block(), nn::Segments::square_root()}) {
        for (const std::int64_t micro_batches : {1, 2}) {
          INFO(of.name << ", " << describe(recipe) << ", " << segments.text() << ", " << micro_batches);
          plan.recompute = segments;
          plan.micro_batches = micro_batches;
          const MemoryUse use = dry_run(plan, batches);
          check_equal(use, measured_steps(plan, batches));
          if (of.name == std::string_view("resnet20") && segments == nn::Segments::one_a_block())
            CHECK(activations(use) * 2 < kept);
        }
      }
    }
  }
}

TEST_CASE("dry run: equal to what train::run writes into its log") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::o1, delayed()}) {
    for (const char* const name : {"mlp", "lenet", "autoencoder", "decoder", "encoder"}) {
      INFO(name << ", " << describe(recipe));
      check_run(run_of(name, data, recipe));
    }
  }
}

// What measures asks for the batches once more, the shadow takes a step of its own.
TEST_CASE("dry run: equal to a run of micro-batches that measures in each step, and that recomputes") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, current()}) {
    for (const char* const name : {"mlp", "resnet20", "decoder", "encoder"}) {
      for (const bool recomputes : {false, true}) {
        INFO(name << ", " << describe(recipe) << (recomputes ? ", recomputes" : ""));
        Plan plan = run_of(name, data, recipe);
        plan.micro_batches = 3;
        plan.histogram_every = 1;
        plan.shadow_every = recipe == recipes::fp32 ? 0 : 2;
        if (recomputes) plan.recompute = nn::Segments::one_a_block();
        check_run(plan);
      }
    }
  }
}

TEST_CASE("dry run: a step refuses an observer that would see nothing beside a tracer") {
  const data::Split data = made_up_split();
  const Plan plan = small_plan(data);
  const std::unique_ptr<nn::Model> model = train::make_model(plan, plan.recipe);
  const std::unique_ptr<Optimizer> optimizer = train::make_optimizer(plan, *model);
  LossScaler scaler(plan.recipe.scaling);
  const Float8Products products = train::make_products(plan, *model);
  const data::Loader loader = train::make_loader(plan);
  const train::StepRecords records(plan.device, kernels::StepRecords());
  NonfiniteTracer tracer;
  train::MemoryLedger ledger;
  CHECK_SAYS("an observer beside a tracer",
             start_step(plan, 1, *model, *optimizer, scaler, products,
                        {.tracer = &tracer, .observer = &ledger}, next_of(loader, plan), records));
}

TEST_CASE("dry run: its peak is enough for a run of micro-batches that measures") {
  const data::Split data = made_up_split();
  Plan plan = run_of("mlp", data, recipes::fp32);
  plan.batch = 8;
  plan.micro_batches = 12;  // the batches of a step take more than the activations of one
  plan.histogram_every = 1;
  plan.memory_limit = dry_run(plan, train::blank(train::batch_shape_of(plan))).peak;
  Scratch scratch;
  CHECK(train::run(plan, scratch.next()).result->peak_without_scratch == plan.memory_limit);
}

}  // namespace tinymp::test
