#include <kernels/kernels.h>
#include <tinymp/train/first_bad.h>
#include <tinymp/train/step.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <set>
#include <utility>
#include <variant>

namespace tinymp::train {
namespace {

constexpr std::int64_t steps_between_copies = 128, steps_between_counts = 128;

/// A second run that repeats the first from a given moment on.
class Replay {
 public:
  Replay(const Plan& plan, std::unique_ptr<nn::Model> model, const FaultFinder::Moment& from)
      : plan_(plan),
        model_(std::move(model)),
        optimizer_(make_optimizer(plan, *model_)),
        scaler_(plan.recipe.scaling),
        products_(make_products(plan, *model_)),
        loader_(from.loader),
        schedule_(schedule_of(plan, optimizer_->learning_rate())) {
    restore(from, *model_, *optimizer_, scaler_, products_, loader_);
    for (const Tensor& moment : optimizer_->moments())
      if (!all_finite(moment)) bad_before_.insert(moment.id());
  }

  const nn::Model& model() const { return *model_; }
  RangesBefore ranges() const {
    RangesBefore found;
    for (const nn::Parameter& p : model_->parameters()) found[p.name] = contents_of(p.value);
    return found;
  }
  double scale() const { return static_cast<double>(scaler_.factor()); }
  /// The micro-batch in which the tracer found its first tensor, counted from 0; where it found none, the last one.
  std::int64_t micro_batch() const { return micro_batch_; }

  /// Takes a step of the run. Returns the first tensor that its update made infinite or NaN.
  std::optional<BadUpdate> step(std::int64_t number, NonfiniteTracer* tracer) {
    std::optional<BadUpdate> bad;
    const StepMeters meters{.tracer = tracer, .updated = [&](const Gradients& g) { bad = bad_update(g); }};
    optimizer_->set_learning_rate(schedule_.at(number));
    products_.set_step(number - 1);
    MicroBatches batches = next_of(loader_, plan_);
    batches.get = [this, tracer, get = batches.get](std::int64_t i) {
      if (tracer == nullptr || !tracer->first()) micro_batch_ = i;
      return get(i);
    };
    start_step(plan_, number, *model_, *optimizer_, scaler_, products_, meters, batches, records_);
    loader_.skip();
    return bad;
  }

 private:
  std::optional<BadUpdate> bad_update(const Gradients& gradients) const {
    std::vector<std::pair<const char*, Tensor>> kept;  // in the order of computation
    const std::vector<Tensor>& moments = optimizer_->moments();
    const std::size_t of_rule = moments.size() - (optimizer_->has_compensation() ? 1 : 0);
    for (std::size_t m = 0; m < of_rule; ++m)
      kept.emplace_back(m == 0 ? "first moment" : "second moment", moments[m]);
    const Tensor &master = optimizer_->master(), &weights = optimizer_->weights();
    const bool has_master = master.id() != weights.id();
    if (has_master) kept.emplace_back("master", master);
    kept.emplace_back("weight", weights);
    if (optimizer_->has_compensation()) kept.emplace_back("compensation", moments.back());
    for (const auto& [what, arena] : kept) {
      if (bad_before_.contains(arena.id()) || all_finite(arena)) continue;
      const bool rounded = has_master && arena.id() == weights.id();
      return describe_update(what, arena, gradients, rounded);
    }
    return {};
  }

  BadUpdate describe_update(const char* what, const Tensor& arena, const Gradients& gradients,
                            bool rounded) const {
    std::int64_t offset = 0;
    std::size_t i = 0;
    const std::vector<nn::Parameter> parameters = model_->parameters();
    while (all_finite(arena.slice(offset, parameters[i].value.shape())))
      offset += parameters[i++].value.size();
    const Shape shape = parameters[i].value.shape();
    const auto part = [&](const Tensor& of) { return of.slice(offset, shape); };

    BadUpdate bad{parameters[i].name,
                  optimizer_->name(),
                  what,
                  arena.dtype(),
                  shape,
                  contents_of(part(arena)),
                  {},
                  {},
                  {},
                  {}};
    const auto place = static_cast<std::size_t>(bad.contents.bad_at);
    const auto factor = static_cast<double>(gradients.factor());
    bad.gradient = contents_of(part(gradients.tensor()));
    bad.gradient.low *= factor;
    bad.gradient.high *= factor;
    bad.at.push_back(part(gradients.tensor()).to_doubles()[place] * factor);
    for (const Tensor& moment : optimizer_->moments()) {
      if (optimizer_->has_compensation() && moment.id() == optimizer_->moments().back().id()) break;
      bad.at.push_back(part(moment).to_doubles()[place]);
      bad.state = moment.dtype();
    }
    if (rounded) bad.master = contents_of(part(optimizer_->master()));
    return bad;
  }

  const Plan& plan_;
  std::unique_ptr<nn::Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_;
  Float8Products products_;
  data::Loader loader_;
  Schedule schedule_;
  StepRecords records_{plan_.device, kernels::StepRecords()};
  std::int64_t micro_batch_ = 0;
  std::set<const void*> bad_before_;  ///< moments that were infinite at the start
};

bool is_passing(const std::optional<BadTensor>& bad) {
  return bad && bad->origin == BadTensor::Origin::forward;
}

/// "Step 12, backward: ..." becomes "Step 12, micro-batch 3 of 8, backward: ..."
void name_micro_batch(Finding& found, std::int64_t number, std::int64_t of) {
  found.sentence.insert(found.sentence.find(','), concat(", micro-batch ", number + 1, " of ", of));
}

/// The finding for a step that could not be traced.
Finding untraced(std::int64_t step, const std::string& why) {
  Finding none;
  none.step = step;
  none.sentence = concat("Step ", step, ": something was not finite", why);
  return none;
}

}  // namespace

FaultFinder::FaultFinder(const Plan& plan, const Running& running, Twin twin, Report report)
    : plan_(plan),
      running_(running),
      twin_(std::move(twin)),
      report_(std::move(report)),
      first_step_(names_in(running.model)),
      memory_{.past = moment_of(running, 0, plan.device)} {}

void FaultFinder::report(const char* kind, Finding finding) {
  finding.kind = kind;
  if (finding.kind == "passing") finding.sentence += " The loss stayed finite.";
  if (finding.kind == "scale below 1")
    finding.sentence += " S backs off below 1: it no longer saves small gradients, it flushes them.";
  report_(finding);
}

bool FaultFinder::seeks_lost(std::int64_t step) const {
  if (!plan_.recipe.eight_bits.any() || memory_.lost_reported) return false;
  return step <= 2 || step % steps_between_counts == 0;
}

void FaultFinder::report_lost(const NarrowedTensor& worst, std::int64_t step) {
  // An infinity is for the loss scaler, and a search begins at the loss.
  const bool flushed = worst.sizes.flushed == worst.sizes.values;
  if (memory_.lost_reported || (!flushed && !plan_.recipe.eight_bits.saturate)) return;
  memory_.lost_reported = true;
  report("lost in FP8", describe(worst, step));
}

void FaultFinder::report_first_bad(std::int64_t step) {
  report("first bad", replay(step, Seek::loss));
  memory_.past.reset();
}

void FaultFinder::check_step(const LogRecord& step, std::int64_t nonfinite_gradients) {
  if (!searching()) return;
  const LossScaling& scaling = plan_.recipe.scaling;
  const bool lost = !std::isfinite(step.loss);
  if (step.step == 1 && !lost) check_first_step();  // its infinities did no harm: they become memory_.known
  if (lost || (nonfinite_gradients > 0 && !moves(scaling))) return report_first_bad(step.step);
  if (!moves(scaling) || memory_.alarmed || nonfinite_gradients == 0) return;
  const ScaleState state{.scale = static_cast<float>(step.scale), .bad = true, .steps = step.step - 1};
  if (next_state(scaling, state).scale >= 1) return;
  memory_.alarmed = true;
  report("scale below 1", replay(step.step, Seek::scale));
}

void FaultFinder::check_first_step() {
  memory_.known = first_step_.origins();
  if (!is_passing(first_step_.first())) return;  // an infinite constant is intended
  memory_.passed_first_step = true;
  report("passing", describe(first_step_, 1));
}

/// An infinite variance makes the outputs 0, an infinite second moment the
/// updates. The loss does not show it.
void FaultFinder::check_state(std::int64_t step) {
  std::vector<Tensor> quiet = running_.model.buffers();
  const Optimizer& optimizer = running_.optimizer;
  for (const Tensor& moment : optimizer.is_shared() ? optimizer.state().moments : optimizer.moments())
    if (moment.dtype() == DType::f16) quiet.push_back(moment);
  if (memory_.passed_to_state || std::ranges::all_of(quiet, all_finite)) return;
  memory_.passed_to_state = true;
  const Finding found = replay(step, Seek::passing);
  if (memory_.passed_first_step && found.direction.empty())
    return;  // the first step made it, and was reported
  report("passing", found);
}

/// The last update can make a weight infinite out of finite gradients before any loss shows it.
void FaultFinder::check_weights(std::int64_t step) {
  if (!all_finite(running_.optimizer.weights())) return report_first_bad(step);
  check_state(step);
}

void FaultFinder::keep(std::int64_t step) {
  if (!searching() || step - memory_.past->step < steps_between_copies) return;
  check_weights(step);
  if (!searching()) return;
  memory_.past.reset();  // frees the old copy before making the new one
  memory_.past = moment_of(running_, step, plan_.device);
}

void FaultFinder::finish(std::int64_t steps) {
  if (searching() && steps > memory_.past->step) check_weights(steps);
}

/// An error in the replay, such as lack of memory, must not end the run.
Finding FaultFinder::replay(std::int64_t until, Seek seek) {
  const auto start = std::chrono::steady_clock::now();
  Finding found;
  try {
    found = replay_steps(until, seek);
  } catch (const std::exception& error) {
    found = untraced(until, concat(", and could not be traced: ", error.what()));
  }
  seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return found;
}

Finding FaultFinder::replay_steps(std::int64_t until, Seek seek) {
  Replay run(plan_, twin_(), *memory_.past);
  RangesBefore before;
  for (std::int64_t t = memory_.past->step + 1; t <= until; ++t) {
    NonfiniteTracer tracer(names_in(run.model()), memory_.known);
    const double scale = run.scale();
    const bool watched = seek == Seek::passing || t == until;
    RangesBefore now = watched || t + 1 == until ? run.ranges() : RangesBefore();
    const std::optional<BadUpdate> update = run.step(t, watched ? &tracer : nullptr);
    if (seek == Seek::passing ? is_passing(tracer.first()) : tracer.first().has_value()) {
      if (seek == Seek::passing) memory_.known = tracer.origins();
      const data::ImageShape none{.rows = 0, .cols = 0, .channels = 0};
      Finding found = describe(tracer, t, scale, before, plan_.text ? none : plan_.data->train.shape);
      if (plan_.micro_batches > 1) name_micro_batch(found, run.micro_batch(), plan_.micro_batches);
      return found;
    }
    if (update && seek != Seek::scale) return describe(*update, t);
    before = std::move(now);
  }
  return untraced(until,
                  concat(" here, but all was finite when steps ", memory_.past->step + 1, " to ", until,
                         " were run again; a model that gives other numbers each time cannot be "
                         "traced."));
}

}  // namespace tinymp::train
