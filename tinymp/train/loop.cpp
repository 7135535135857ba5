#include <tinymp/amp/loss_scaler.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/meters.h>
#include <chrono>
#include <cmath>
#include <optional>

namespace tinymp::train {
namespace {

/// Independent random streams of one seed: the weights do not move when the data are drawn otherwise.
constexpr std::uint64_t weights_stream = 0, order_stream = 1;

void expect_complete(const Plan& plan) {
  expect(plan.data && plan.model && plan.optimizer, "train::run: the plan '", plan.name,
         "' lacks its data, model or optimizer");
  expect(plan.steps >= 1 && plan.log_every >= 1 && plan.shadow_every >= 0, "train::run: ", plan.steps,
         " steps, logged every ", plan.log_every, " and shadowed every ", plan.shadow_every, " makes no run");
  expect(plan.clip >= 0, "train::run: the largest norm of the gradients is ", plan.clip,
         "; it must be 0 (no clipping) or above");
}

RunHeader header_of(const Plan& plan, const nn::Model& model) {
  RunHeader header;
  header.lesson = plan.lesson;
  header.question = plan.question;
  header.name = plan.name;
  header.recipe = plan.recipe;
  header.seed = plan.seed;
  header.command = plan.command;
  header.model = model.name();
  header.data = data::describe(*plan.data);
  header.optimizer = plan.optimizer_name;
  header.steps = plan.steps;
  header.batch = plan.batch;
  header.metric = metric_name(plan.task);
  header.higher_is_better = higher_is_better(plan.task);
  return header;
}

std::unique_ptr<nn::Model> make_model(const Plan& plan, const Recipe& recipe) {
  Rng rng = Rng(plan.seed).split(weights_stream);
  std::unique_ptr<nn::Model> model = plan.model(recipe, rng);
  if (plan.start != nullptr) nn::copy_parameters(*plan.start, *model);
  return model;
}

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

/// One step, in the order of Micikevicius et al. 2018, and what it looked like.
StepRecord step(const Plan& plan, const nn::Model& model, Optimizer& optimizer, LossScaler& scaler,
                Shadow* shadow, const data::Batch& batch) {
  StepRecord record;
  record.scale = static_cast<double>(scaler.factor());
  {
    Tape tape;
    const Tensor loss = loss_of(plan.task, model, batch);
    record.loss = loss.item();
    tape.backward(scaler.scale(loss));
  }
  Gradients gradients = optimizer.gradients();
  GradCheck check = scaler.unscale(gradients);
  if (plan.clip > 0) clip_norm(gradients, plan.clip);
  if (shadow != nullptr && check.finite()) record.flushed = shadow->flushed(plan.task, model, batch);
  const StepResult result = optimizer.step(gradients, check);
  const kernels::GradientScan counts = check.counts();
  scaler.update(std::move(check));
  optimizer.zero_grad();

  record.skipped = !result.taken();
  record.zero = share(counts.zeros, counts.values);
  record.subnormal = share(counts.subnormals, counts.values);
  if (result.taken() && counts.nonfinite == 0) {  // NaN is not lost: it is gone
    const kernels::UpdateCounts& updates = result.updates();
    record.underflowed = share(updates.underflowed, updates.values);
    record.absorbed = share(updates.absorbed, updates.values);
  }
  return record;
}

}  // namespace

Run run(const Plan& plan, const std::string& path, const Watcher& watch, std::unique_ptr<nn::Model>* keep) {
  expect_complete(plan);
  std::unique_ptr<nn::Model> model = make_model(plan, plan.recipe);
  const std::unique_ptr<Optimizer> optimizer = plan.optimizer(model->parameters(), plan.recipe);
  LossScaler scaler(plan.recipe.scaling);
  data::Loader loader(plan.data->train, plan.batch, Rng(plan.seed).split(order_stream).seed(), plan.pixels);
  std::optional<Shadow> shadow;
  if (plan.shadow_every > 0) shadow.emplace(make_model(plan, recipes::fp32));

  Run recorded{path, header_of(plan, *model), {}, {}};
  RunLog log(path, recorded.header);
  recorded.header = log.header();
  RunResult result;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t t = 1; t <= plan.steps; ++t) {
    const bool look = shadow && (t % plan.shadow_every == 0 || t == 1);
    StepRecord record = step(plan, *model, *optimizer, scaler, look ? &*shadow : nullptr, loader.next());
    record.step = t;
    result.skipped += record.skipped;
    result.taken += !record.skipped;
    record.skips = result.skipped;
    if (result.first_nonfinite_step == 0 && !std::isfinite(record.loss)) result.first_nonfinite_step = t;
    if (t == 1 || t == plan.steps || t % plan.log_every == 0 || look) {
      log.write(record);
      recorded.steps.push_back(record);
    }
    if (watch) watch(plan, record);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  result.value = measure(plan.task, *model, plan.data->test, plan.pixels);
  log.finish(result);
  recorded.result = result;
  if (keep != nullptr) *keep = std::move(model);
  return recorded;
}

}  // namespace tinymp::train
