#include <kernels/cuda/executor.h>
#include <tinymp/dist/collectives.h>
#include <tinymp/nn/first_values.h>
#include <tinymp/train/dry_run.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/other_rank.h>
#include <tinymp/train/training.h>
#include <utility>

namespace tinymp::train {
namespace {

/// Independent random streams of one seed: the weights do not change when the data are drawn differently.
constexpr std::uint64_t weights_stream = 0, order_stream = 1, rounding_stream = 2, products_stream = 3;

/// Each takes as long to record as the others, and the graph grows by its kernels.
constexpr std::int64_t most_micro_batches_of_a_graph = 1024;

bool sums_bf16_in_f16(const Recipe& recipe) {
  return recipe.accumulate == DType::f16 && (recipe.compute == DType::bf16 || recipe.autocast == DType::bf16);
}

void expect_complete(const Plan& plan) {
  const bool has_text = plan.text.has_value();
  expect((has_text ? plan.text->text != nullptr : plan.data != nullptr) && plan.model && plan.optimizer,
         "train::run: the plan '", plan.name, "' lacks its data, model or optimizer");
  expect(!has_text || !plan.data, "train::run: the plan '", plan.name, "' has images beside a text");
  expect(has_text == (plan.task == Task::name_tokens), "train::run: the plan '", plan.name,
         "' asks a model of images for tokens, or one of texts for something else");
  expect(!plan.loss || !has_text, "train::run: the plan '", plan.name,
         "' has a loss of its own, which no measurement of a text would follow");
  if (has_text) plan.text->validation();  // a text that is too short is refused before the first step
  expect(plan.steps >= 1 && plan.log_every >= 1 && plan.shadow_every >= 0, "train::run: ", plan.steps,
         " steps, logged every ", plan.log_every, " and shadowed every ", plan.shadow_every, " makes no run");
  expect(plan.histogram_every >= 0, "train::run: a histogram every ", plan.histogram_every,
         " steps makes no run");
  expect(plan.validate_every >= 0, "train::run: a look at the validation data every ", plan.validate_every,
         " steps makes no run");
  expect(plan.micro_batches >= 1, "train::run: ", plan.micro_batches, " micro-batches make no step");
  expect(plan.warmup >= 0, "train::run: a warm-up of ", plan.warmup, " steps makes no run");
  expect(!plan.loss || (plan.shadow_every == 0 && plan.histogram_every == 0), "train::run: the plan '",
         plan.name, "' has a loss of its own, which no FP32 shadow would follow");
  expect(plan.save_every >= 0 && plan.keep >= 0, "train::run: a checkpoint every ", plan.save_every,
         " steps, of which ", plan.keep, " are kept, makes no run");
  expect(!plan.graph || plan.device == Device::cuda, "train::run: the plan '", plan.name,
         "' asks for a graph, which the device cuda alone has");
  expect(
      !plan.graph || !plan.loss, "train::run: the plan '", plan.name,
      "' has a loss of its own, which needs the labels on the CPU; such a step is not recorded as a graph");
  expect(!plan.graph || plan.memory_limit == 0, "train::run: the plan '", plan.name,
         "' has a limit of memory and asks for a graph, which keeps the data set and the blocks of a step on "
         "the device; "
         "leave out one of the two");
  expect(!plan.graph || plan.micro_batches <= most_micro_batches_of_a_graph, "train::run: the plan '",
         plan.name, "' asks for a graph, which would hold the kernels of all its ", plan.micro_batches,
         " micro-batches; take at most ", most_micro_batches_of_a_graph, ", or leave out the graph");
  expect(plan.device != Device::cuda || !sums_bf16_in_f16(plan.recipe), "train::run: the plan '", plan.name,
         "' multiplies BF16 and keeps the sums in f16; a GPU keeps those in f32 alone. Take f32 for the "
         "accumulator, or "
         "the device cpu");
  expect(plan.device != Device::meta, "train::run: the plan '", plan.name,
         "' trains on meta, where nothing has values; train::dry_run takes its steps there");
  expect(plan.memory_limit >= 0, "train::run: a limit of ", plan.memory_limit, " bytes leaves no memory");
  expect(plan.clip >= 0, "train::run: the largest norm of the gradients is ", plan.clip,
         "; it must be 0 (no clipping) or above");
  expect(plan.zero == 0 || plan.zero == 1, "train::run: the plan '", plan.name, "' asks for stage ",
         plan.zero, " of ZeRO; there are 0 (none) and 1");
  expect(plan.zero == 0 || plan.ranks != nullptr, "train::run: the plan '", plan.name,
         "' shares its masters and moments, and has no ranks to share them");
  expect(!plan.pipeline || plan.ranks != nullptr, "train::run: the plan '", plan.name,
         "' asks for a pipeline, and names no ranks");
  expect(plan.compare_every >= 1, "train::run: weights that are compared every ", plan.compare_every,
         " steps");
  if (plan.pipeline) return expect_pipelined(plan);
  if (plan.zero > 0 && plan.wire.rounds())
    throw UsageError(concat("the plan '", plan.name, "' adds up gradients in ", plan.wire.format,
                            ", and its ranks share masters and moments; take one of the two"));
  if (plan.ranks != nullptr) return expect_shareable(plan);
  if (plan.wire.rounds())
    throw UsageError(concat("the plan '", plan.name, "' adds up the gradients of several ranks in ",
                            plan.wire.format, ", and this process trains alone; take several ranks"));
}

}  // namespace

RunHeader header_of(const Plan& plan, const nn::Module& model) {
  RunHeader header;
  header.lesson = plan.lesson;
  header.question = plan.question;
  header.name = plan.name;
  header.recipe = plan.recipe;
  header.seed = plan.seed;
  header.command = plan.command;
  header.model = model.name();
  if (plan.data != nullptr) header.data = data::describe(*plan.data);
  if (plan.text && plan.text->text != nullptr) header.data = describe(*plan.text);
  header.optimizer = plan.optimizer_name;
  header.steps = plan.steps;
  header.batch = plan.batch;
  header.micro_batches = plan.micro_batches;
  header.recompute = plan.recompute.text();
  if (plan.ranks != nullptr) header.ranks = plan.ranks->ranks();
  header.wire = dist::describe(plan.wire);
  header.metric = metric_name(plan.task);
  header.higher_is_better = higher_is_better(plan.task);
  if (plan.device == Device::cuda) header.device = kernels::executor_name();
  return header;
}

std::unique_ptr<nn::Model> make_model(const Plan& plan, const Recipe& recipe) {
  std::optional<nn::MetaParameters> without_values;
  if (plan.device == Device::meta) without_values.emplace();
  Rng rng = Rng(plan.seed).split(weights_stream);
  std::unique_ptr<nn::Model> model = plan.model(recipe, rng);
  if (plan.start != nullptr) nn::copy_parameters(*plan.start, *model);
  nn::move_to(*model, plan.device);
  return model;
}

std::unique_ptr<Optimizer> make_optimizer(const Plan& plan, const nn::Model& model) {
  std::unique_ptr<Optimizer> optimizer = plan.optimizer(tensors(model.parameters()), plan.recipe);
  optimizer->set_rounding_seed(Rng(plan.seed).split(rounding_stream).seed());
  return optimizer;
}

Float8Products make_products(const Plan& plan, const nn::Model& model) {
  return {model, plan.recipe, Rng(plan.seed).split(products_stream).seed()};
}

data::Loader make_loader(const Plan& plan) {
  const std::uint64_t seed = Rng(plan.seed).split(order_stream).seed();
  const std::int64_t samples = plan.batch * plan.micro_batches;
  const std::int64_t all = plan.text ? plan.text->training().count() : plan.data->train.count;
  if (plan.micro_batches > 1 && samples > all)
    throw UsageError(concat("a step of ", plan.batch, " x ", plan.micro_batches,
                            plan.text ? " texts, " : " images, ", samples, " in all, cannot be drawn from ",
                            all, "; choose a smaller batch, or fewer of them (--accumulate, --ranks)"));
  if (plan.text) return {plan.text->training(), samples, seed};
  return {plan.data->train, samples, seed, plan.pixels};
}

std::string describe(const TextPlan& text) {
  const bool masks = text.aim == data::TextAim::masked_tokens;
  return concat(data::describe(*text.text), masks ? ", masked tokens" : ", the next token", ", texts of ",
                text.context);
}

namespace {

/// The run as this process sees it, alone or as a rank.
Run run_here(const Plan& plan, const std::string& path, const StepCallback& on_step,
             std::unique_ptr<nn::Model>* keep) {
  expect_complete(plan);
  expect_fits(plan);
  TrainedParts parts(plan);
  if (plan.recompute.any()) static_cast<void>(plan.recompute.of(parts.model->blocks()));  // or it throws
  const bool writes = plan.ranks == nullptr || plan.ranks->rank() == 0;
  RunStart begun;
  if (writes)
    begun = begin_run(plan, path, *parts.model, *parts.optimizer, parts.scaler, parts.products, parts.loader);
  if (plan.ranks != nullptr)
    begun.step = begin_alike(plan, begun.step, *parts.model, *parts.optimizer, parts.scaler, parts.products,
                             parts.loader);
  if (plan.zero > 0 && begun.step < plan.steps) parts.share();
  if (plan.pipeline && dist::broadcast(*plan.ranks, begun.log ? "goes on" : "is over") == "goes on")
    parts.pipeline = std::make_unique<Pipeline>(plan, parts);
  if (!writes && parts.pipeline)
    take_part_in_pipeline(plan, parts, begun.step);
  else if (!writes)
    take_part(plan, parts, begun.step);
  if (begun.log) {  // else it was finished before, or another rank writes it
    Training training(plan, path, on_step, parts, begun);
    if (!training.take_steps()) return std::move(begun.recorded);
    training.finish();
  }
  if (keep != nullptr && parts.whole) *keep = std::move(parts.whole->model);
  if (keep != nullptr && !parts.pipeline) *keep = std::move(parts.model);
  return std::move(begun.recorded);
}

}  // namespace

Run run(const Plan& plan, const std::string& path, const StepCallback& on_step,
        std::unique_ptr<nn::Model>* keep) {
  if (plan.ranks == nullptr) return run_here(plan, path, on_step, keep);
  try {
    Run run = run_here(plan, path, on_step, keep);
    dist::barrier(*plan.ranks);  // rank 0 measures after the last step
    return run;
  } catch (const dist::LostRank&) {
    throw;
  } catch (const std::exception& error) {
    plan.ranks->fail(concat("rank ", plan.ranks->rank(), ": ", error.what()));
    throw;
  }
}

}  // namespace tinymp::train
