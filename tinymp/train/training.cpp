#include <tinymp/amp/autocast.h>
#include <tinymp/train/training.h>
#include <cmath>
#include <utility>

namespace tinymp::train {

bool is_logged(const Plan& plan, std::int64_t t) {
  return t == plan.steps || is_due(t, plan.log_every) || is_due(t, plan.shadow_every) ||
         is_due(t, plan.histogram_every) || RunCurves::is_measured(plan, t);
}

namespace {

/// The steps since the last one that the log has.
std::int64_t unlogged_steps(const Plan& plan, std::int64_t t) {
  std::int64_t count = 0;
  while (count < t && !is_logged(plan, t - count)) ++count;
  return count;
}

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

}  // namespace

TrainedParts::TrainedParts(const Plan& of)
    : plan(of),
      model(make_model(plan, plan.recipe)),
      optimizer(make_optimizer(plan, *model)),
      schedule(schedule_of(plan, optimizer->learning_rate())),
      scaler(plan.recipe.scaling),
      products(make_products(plan, *model)),
      loader(make_loader(plan)) {
  if (plan.shadow_every > 0 || (plan.histogram_every > 0 && has_narrow_gradients(plan.recipe)))
    shadow.emplace(make_model(plan, recipes::fp32));
}

void TrainedParts::share() {
  shards = std::make_shared<const RankShards>(*plan.ranks, optimizer->weights().size());
  optimizer->share(shards);
}

Training::Training(const Plan& plan, const std::string& path, const StepCallback& on_step,
                   TrainedParts& parts, RunStart& begun)
    : plan_(plan),
      path_(path),
      on_step_(on_step),
      parts_(parts),
      begun_(begun),
      running_(parts.running()),
      finder_(
          plan, running_, [&plan] { return make_model(plan, plan.recipe); },
          [&begun](const Finding& finding) {
            begun.log->note(finding);
            begun.recorded.findings.push_back(finding);
          }),
      result_(begun.counts),
      curves_(plan, *parts.model, parts.products, begun.recorded.steps),
      memory_(*parts.model, *parts.optimizer),
      pending_(plan.device) {
  if (begun.finder) finder_.restore(std::move(*begun.finder));
  parts.products.set_step(begun.step);
  static_cast<void>(parts.scaler.seed(plan.device));  // its state goes there now, and counts in no step
  memory_.account()->set_limit(plan.memory_limit);
  if (plan.graph)
    graph_.emplace(plan, *parts.model, *parts.optimizer, parts.scaler, parts.products, parts.loader,
                   pending_.records());
  if (parts.pipeline) finder_.restore({});  // its search needs the whole model
  if (plan.ranks != nullptr && !parts.pipeline)
    ranks_.emplace(plan, *parts.model, *parts.optimizer, parts.shards.get());
}

StepMeters Training::meters_of(std::int64_t t, bool logged) {
  const bool sizes = is_due(t, plan_.histogram_every);
  return {.shadow = parts_.shadow ? &*parts_.shadow : nullptr,
          .counts_flushed = is_due(t, plan_.shadow_every),
          .norm = logged,
          .histograms = sizes,
          .eight_bits = (plan_.recipe.eight_bits.any() && sizes) || finder_.seeks_lost(t),
          .tracer = t == 1 ? &finder_.first_step() : nullptr};
}

PendingStep Training::start(std::int64_t t, const StepMeters& meters) {
  Optimizer& optimizer = *parts_.optimizer;
  if (const float lr = parts_.schedule.at(t); lr != optimizer.learning_rate())
    optimizer.set_learning_rate(lr);
  const MemoryRegion counted(memory_.account());
  const bool plain =
      meters.tracer == nullptr && !meters.counts_flushed && !meters.histograms && !meters.eight_bits;
  if (graph_ && plain) return graph_->take(t, pending_.all());
  MicroBatches batches = next_of(parts_.loader, plan_);
  if (parts_.pipeline) {
    PendingStep started = parts_.pipeline->step(t, batches, pending_.records());
    parts_.loader.skip();
    return started;
  }
  if (ranks_) batches.ranks = &*ranks_;
  PendingStep started = start_step(plan_, t, *parts_.model, optimizer, parts_.scaler, parts_.products, meters,
                                   batches, pending_.records());
  parts_.loader.skip();
  return started;
}

bool Training::take_steps() {
  std::int64_t unlogged = unlogged_steps(plan_, begun_.step);
  for (std::int64_t t = begun_.step + 1; t <= plan_.steps; ++t) {
    const bool logged = is_logged(plan_, t);
    pending_.add(start(t, meters_of(t, logged)));
    const bool asked = parts_.pipeline ? parts_.pipeline->stops()
                       : ranks_        ? ranks_->stops()
                                       : plan_.stop && plan_.stop();
    const bool stops = t < plan_.steps && asked;
    const bool saves = stops || (t < plan_.steps && plan_.save_every > 0 && t % plan_.save_every == 0);
    unlogged = logged ? 0 : unlogged + 1;
    const bool checks =
        unlogged % PendingSteps::most == 0;  // at the same steps wherever the run was interrupted
    if (!checks && !saves) continue;
    for (const DoneStep& done : pending_.take()) enter(done, logged && done.step.number == t);
    if (checks) finder_.keep(t);
    if (saves) save(t);
    if (stops) return end_ranks(), false;
  }
  return true;
}

void Training::enter(const DoneStep& done, bool logged) {
  LogRecord record = outline_of(done);
  result_.skipped += record.skipped;
  result_.taken += !record.skipped;
  record.skips = result_.skipped;
  if (result_.first_nonfinite_step == 0 && !std::isfinite(record.loss))
    result_.first_nonfinite_step = record.step;
  if (logged) {
    add_details(done, record);
    curves_.add_to(record, finder_.seconds());
    begun_.log->write(record);
    begun_.recorded.steps.push_back(record);
    if (done.step.sizes) {
      begun_.log->write_sizes(*done.step.sizes);
      begun_.recorded.sizes.push_back(*done.step.sizes);
    }
  }
  if (done.step.worst) finder_.report_lost(*done.step.worst, record.step);
  if (finder_.searching()) finder_.check_step(record, done.recorded.found.nonfinite);
  if (on_step_) on_step_(plan_, record);
}

void Training::save(std::int64_t t) {
  begun_.log->sync();
  if (parts_.pipeline) {
    const std::unique_ptr<TrainedParts> whole = parts_.pipeline->whole(t);
    return save_whole(*whole, t);
  }
  save_run(path_, {plan_, *parts_.model, *parts_.optimizer, parts_.products, parts_.schedule.lr},
           {result_, begun_.log->lines(), moment_of(running_, t), finder_.memory()});
}

/// Nothing more is wanted of the other ranks.
void Training::end_ranks() {
  if (parts_.shards) begun_.recorded.state_bytes = parts_.shards->end(memory_.state_bytes());
}

void Training::save_whole(const TrainedParts& whole, std::int64_t t) {
  save_run(path_, {plan_, *whole.model, *whole.optimizer, whole.products, parts_.schedule.lr},
           {result_, begun_.log->lines(), moment_of(whole.running(), t), {}});
}

double Training::measured() const {
  const Autocast region(plan_.recipe);  // the model is measured in the formats it trained in
  const Float8Products::Region in_eight_bits(parts_.products);
  if (plan_.text) return measure(*parts_.model, plan_.text->validation(), plan_.batch, plan_.device);
  return measure(plan_.task, *parts_.model, plan_.data->test, plan_.pixels, plan_.device);
}

void Training::finish() {
  result_.seconds = curves_.seconds() - finder_.seconds();
  memory_.tell(result_);
  finder_.finish(plan_.steps);
  if (parts_.pipeline) {
    finish_pipeline();
  } else if (plan_.saves || plan_.save_every > 0) {
    finder_.restore({});  // its search is over
    save(plan_.steps);
    result_.weights = weights_hash(*parts_.model, *parts_.optimizer);
  }
  end_ranks();
  result_.value = measured();
  begun_.log->finish(result_);
  begun_.recorded.result = result_;
}

/// The other ranks give their parts in any case.
void Training::finish_pipeline() {
  begun_.recorded.waited = parts_.pipeline->waited();
  parts_.whole = parts_.pipeline->whole(plan_.steps);
  if (!plan_.saves && plan_.save_every == 0) return;
  begun_.log->sync();
  save_whole(*parts_.whole, plan_.steps);
  result_.weights = weights_hash(*parts_.whole->model, *parts_.whole->optimizer);
}

}  // namespace tinymp::train
