#include <kernels/cuda/executor.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/train/first_bad.h>
#include <tinymp/train/graph_step.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/memory.h>
#include <tinymp/train/run_curves.h>
#include <tinymp/train/run_state.h>
#include <tinymp/train/step.h>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

namespace tinymp::train {
namespace {

/// Independent random streams of one seed: the weights do not change when the data are drawn differently.
constexpr std::uint64_t weights_stream = 0, order_stream = 1, rounding_stream = 2, products_stream = 3;

/// How many steps the device may lag behind the loop.
constexpr std::int64_t steps_ahead = kernels::StepRecords::kept;

void expect_complete(const Plan& plan) {
  const bool has_text = plan.text.has_value();
  expect((has_text ? plan.text->text : plan.data) != nullptr && plan.model && plan.optimizer,
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
  expect(plan.clip >= 0, "train::run: the largest norm of the gradients is ", plan.clip,
         "; it must be 0 (no clipping) or above");
}

/// True at the steps that the log has.
bool is_logged(const Plan& plan, std::int64_t t) {
  return t == plan.steps || is_due(t, plan.log_every) || is_due(t, plan.shadow_every) ||
         is_due(t, plan.histogram_every) || RunCurves::is_measured(plan, t);
}

/// The steps since the last one that the log has.
std::int64_t unlogged_steps(const Plan& plan, std::int64_t t) {
  std::int64_t count = 0;
  while (count < t && !is_logged(plan, t - count)) ++count;
  return count;
}

/// A step with what the device recorded of it.
struct DoneStep {
  PendingStep step;
  kernels::StepRecord recorded{};
};

/// Steps that the device may still be computing.
class PendingSteps {
 public:
  explicit PendingSteps(Device device) : records_(device, kernels::StepRecords()) {}

  const StepRecords& records() const { return records_; }
  std::int64_t all() const { return all_; }  ///< steps that were added so far
  /// At most steps_ahead until they are taken.
  void add(PendingStep started) {
    steps_.push_back({std::move(started)});
    ++all_;
  }

  /// Waits for the device.
  std::vector<DoneStep> take() {
    const kernels::StepRecords records = records_.read();
    std::int64_t at = all_ - static_cast<std::int64_t>(steps_.size());
    for (DoneStep& done : steps_) done.recorded = records.at[at++ % kernels::StepRecords::kept];
    return std::exchange(steps_, {});
  }

 private:
  StepRecords records_;
  std::vector<DoneStep> steps_;
  std::int64_t all_ = 0;
};

/// Makes the part of a record that a progress bar needs at every step.
LogRecord outline_of(const DoneStep& done) {
  LogRecord record;
  record.step = done.step.number;
  record.loss = done.recorded.loss;
  record.scale = done.recorded.scale;
  record.skipped = !done.recorded.outcome.taken;
  return record;
}

/// Adds the part that only the log needs.
void add_details(const DoneStep& done, LogRecord& record) {
  const kernels::GradientCounts& found = done.recorded.found;
  record.lr = static_cast<double>(done.step.lr);
  record.zero = share(found.zeros, found.values);
  record.subnormal = share(found.subnormals, found.values);
  record.flushed = done.step.flushed;
  if (done.step.has_norm && found.nonfinite == 0) record.grad_norm = done.recorded.norm;
  if (record.skipped || found.nonfinite > 0) return;  // NaN says nothing about small updates
  const kernels::UpdateCounts& updates = done.recorded.outcome.updates;
  record.underflowed = share(updates.underflowed, updates.values);
  record.absorbed = share(updates.absorbed, updates.values);
}

/// Reads steps back, in their order, and writes down what became of them.
struct Books {
  const Plan& plan;
  RunLog& log;
  Run& recorded;
  RunResult& result;
  FaultFinder& finder;
  RunCurves& curves;
  const StepCallback& on_step;

  void enter(const DoneStep& done, bool logged) const {
    LogRecord record = outline_of(done);
    result.skipped += record.skipped;
    result.taken += !record.skipped;
    record.skips = result.skipped;
    if (result.first_nonfinite_step == 0 && !std::isfinite(record.loss))
      result.first_nonfinite_step = record.step;
    if (logged) {
      add_details(done, record);
      curves.add_to(record, finder.seconds());
      log.write(record);
      recorded.steps.push_back(record);
      if (done.step.sizes) {
        log.write_sizes(*done.step.sizes);
        recorded.sizes.push_back(*done.step.sizes);
      }
    }
    if (done.step.worst) finder.report_lost(*done.step.worst, record.step);
    if (finder.searching()) finder.check_step(record, done.recorded.found.nonfinite);
    if (on_step) on_step(plan, record);
  }
};

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
  header.metric = metric_name(plan.task);
  header.higher_is_better = higher_is_better(plan.task);
  if (plan.device == Device::cuda) header.device = kernels::executor_name();
  return header;
}

std::unique_ptr<nn::Model> make_model(const Plan& plan, const Recipe& recipe) {
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
  if (plan.text) return {plan.text->training(), plan.batch, seed};
  return {plan.data->train, plan.batch, seed, plan.pixels};
}

std::string describe(const TextPlan& text) {
  const bool masks = text.aim == data::TextAim::masked_tokens;
  return concat(data::describe(*text.text), masks ? ", masked tokens" : ", the next token", ", texts of ",
                text.context);
}

Run run(const Plan& plan, const std::string& path, const StepCallback& on_step,
        std::unique_ptr<nn::Model>* keep) {
  expect_complete(plan);
  std::unique_ptr<nn::Model> model = make_model(plan, plan.recipe);
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(plan, *model);
  const Schedule schedule = schedule_of(plan, optimizer->learning_rate());
  LossScaler scaler(plan.recipe.scaling);
  const Float8Products products = make_products(plan, *model);
  data::Loader loader = make_loader(plan);
  std::optional<Shadow> shadow;
  if (plan.shadow_every > 0 || (plan.histogram_every > 0 && has_narrow_gradients(plan.recipe)))
    shadow.emplace(make_model(plan, recipes::fp32));

  const float first_lr = optimizer->learning_rate();
  RunStart begun = begin_run(plan, path, *model, *optimizer, scaler, products, loader);
  Run& recorded = begun.recorded;
  if (!begun.log) {  // finished before
    if (keep != nullptr) *keep = std::move(model);
    return std::move(recorded);
  }
  RunLog& log = *begun.log;
  const RunningParts running{*model, *optimizer, scaler, products, loader};
  FaultFinder finder(
      plan, running, [&] { return make_model(plan, plan.recipe); },
      [&](const Finding& finding) {
        log.note(finding);
        recorded.findings.push_back(finding);
      });
  if (begun.finder) finder.restore(std::move(*begun.finder));
  RunResult result = begun.counts;
  RunCurves curves(plan, *model, products, recorded.steps);
  products.set_step(begun.step);
  const Books books{plan, log, recorded, result, finder, curves, on_step};
  const auto save = [&](std::int64_t t) {
    log.sync();
    save_run(path, {plan, *model, *optimizer, products, first_lr},
             {result, log.lines(), moment_of(running, t), finder.memory()});
  };
  const MemoryMeter memory(*model, *optimizer);
  PendingSteps pending(plan.device);
  std::optional<GraphStep> graph;
  if (plan.graph) graph.emplace(plan, *model, *optimizer, scaler, products, loader, pending.records());
  std::int64_t unlogged = unlogged_steps(plan, begun.step);
  for (std::int64_t t = begun.step + 1; t <= plan.steps; ++t) {
    const bool logged = is_logged(plan, t);
    const bool sizes = is_due(t, plan.histogram_every);
    const StepMeters meters{.shadow = shadow ? &*shadow : nullptr,
                            .counts_flushed = is_due(t, plan.shadow_every),
                            .norm = logged,
                            .histograms = sizes,
                            .eight_bits = (plan.recipe.eight_bits.any() && sizes) || finder.seeks_lost(t),
                            .tracer = t == 1 ? &finder.first_step() : nullptr};
    if (const float lr = schedule.at(t); lr != optimizer->learning_rate()) optimizer->set_learning_rate(lr);
    {
      const MemoryRegion counted(memory.account());
      const bool plain =
          meters.tracer == nullptr && !meters.counts_flushed && !meters.histograms && !meters.eight_bits;
      pending.add(graph && plain ? graph->take(t, pending.all())
                                 : start_step(plan, t, *model, *optimizer, scaler, products, meters,
                                              to(loader.next(), plan.device), pending.records()));
    }
    const bool stops = t < plan.steps && plan.stop && plan.stop();
    const bool saves = stops || (t < plan.steps && plan.save_every > 0 && t % plan.save_every == 0);
    unlogged = logged ? 0 : unlogged + 1;
    const bool checks = unlogged % steps_ahead == 0;  // at the same steps wherever the run was interrupted
    if (!checks && !saves) continue;
    for (const DoneStep& done : pending.take()) books.enter(done, logged && done.step.number == t);
    if (checks) finder.keep(t);
    if (saves) save(t);
    if (stops) return std::move(recorded);
  }
  result.seconds = curves.seconds() - finder.seconds();
  memory.tell(result);
  finder.finish(plan.steps);
  if (plan.saves || plan.save_every > 0) {
    finder.restore({});  // its search is over
    save(plan.steps);
    result.weights = weights_hash(*model, *optimizer);
  }
  {
    const Autocast region(plan.recipe);  // the model is measured in the formats it trained in
    const Float8Products::Region in_eight_bits(products);
    result.value = plan.text ? measure(*model, plan.text->validation(), plan.batch, plan.device)
                             : measure(plan.task, *model, plan.data->test, plan.pixels, plan.device);
  }
  log.finish(result);
  recorded.result = result;
  if (keep != nullptr) *keep = std::move(model);
  return std::move(recorded);
}

}  // namespace tinymp::train
