#include <kernels/kernels.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/train/pipeline.h>
#include <tinymp/train/training.h>
#include <algorithm>

// What a rank of a pipeline has: it is taken apart at the beginning, and put together to be saved.
namespace tinymp::train {
namespace {

std::span<std::byte> bytes_of(const Tensor& x) {
  return {x.view().data<std::byte>(), static_cast<std::size_t>(x.size()) * size_of(x.dtype())};
}

Tensor part_of(const Tensor& arena, const ElementRange& range) {
  return arena.slice(range.begin, Shape{range.end - range.begin});
}

/// The first rank gets what each rank has of `whole`. The others have no `whole`.
void gather(dist::Transport& ranks, const Tensor& own, const Tensor& whole,
            const std::vector<ElementRange>& of_ranks) {
  dist::Outgoing out(of_ranks.size());
  dist::Incoming in(of_ranks.size());
  if (ranks.rank() > 0) {
    out[0] = bytes_of(own);
  } else {
    kernels::cast(own.view(), part_of(whole, of_ranks[0]).view());
    for (std::size_t r = 1; r < in.size(); ++r) in[r] = bytes_of(part_of(whole, of_ranks[r]));
  }
  ranks.exchange(out, in);
}

/// Scalars one after another; empty: none.
Tensor row_of(const std::vector<Tensor>& scalars) {
  const Tensor row({std::ssize(scalars)}, DType::f64);
  for (std::size_t i = 0; i < scalars.size(); ++i) row.data<double>()[i] = scalars[i].item();
  return row;
}

}  // namespace

void expect_pipelined(const Plan& plan) {
  const auto refuse = [&](const auto&... parts) {
    throw UsageError(concat("the plan '", plan.name, "' cannot run as a pipeline: ", parts...));
  };
  if (!plan.text)
    refuse("its model is one of images; a transformer has parts that could lie in several processes");
  if (plan.device != Device::cpu)
    refuse("it trains on ", plan.device, ", and ranks exchange what lies on the CPU");
  if (plan.recipe.eight_bits.any())
    refuse("its products are in FP8, whose scales each process would choose alone");
  if (plan.recipe.rounding.masters == Rounding::stochastic ||
      plan.recipe.rounding.weights == Rounding::stochastic)
    refuse(
        "it rounds stochastically, and the random word of a weight follows from its place among all weights");
  if (plan.shadow_every > 0 || plan.histogram_every > 0)
    refuse("it compares with an FP32 shadow, or counts the sizes of gradients, which needs the whole model");
  if (plan.zero > 0) refuse("its ranks share masters and moments, and each stage has others");
  if (plan.wire.rounds())
    refuse("its gradients travel in ", plan.wire.format, ", and those of a stage do not travel");
  if (plan.memory_limit > 0) refuse("it has a limit of memory, which is that of the whole model");
}

Pipeline::Pipeline(const Plan& plan, TrainedParts& parts) : plan_(plan), parts_(parts), ranks_(*plan.ranks) {
  const Optimizer& before = *parts.optimizer;
  Optimizer::State whole{before.steps(), before.learning_rate(), before.weights(), before.master(),
                         before.moments()};
  parts.optimizer.reset();
  auto stage = std::make_unique<Stage>(std::move(parts.model), ranks_);
  stage_ = stage.get();
  parts.optimizer = plan.optimizer(stage->own_parameters(), plan.recipe);
  const ElementRange own = stage->own_elements();
  whole.weights = part_of(whole.weights, own);
  whole.master = part_of(whole.master, own);
  for (Tensor& moment : whole.moments) moment = part_of(moment, own);
  parts.optimizer->restore(whole);
  parts.model = std::move(stage);
}

std::unique_ptr<TrainedParts> Pipeline::whole(std::int64_t step) {
  const Optimizer& own = *parts_.optimizer;
  std::unique_ptr<TrainedParts> all;
  std::optional<Moment> moment;
  if (stage_->is_first()) {
    const Uncounted apart;
    all = std::make_unique<TrainedParts>(plan_);
    moment.emplace(moment_of(all->running(), step));
  }
  const auto get = [&](const Tensor& from, Tensor Optimizer::State::*to) {
    gather(ranks_, from, moment ? moment->optimizer.*to : Tensor(), stage_->elements());
  };
  get(own.weights(), &Optimizer::State::weights);
  get(own.master(), &Optimizer::State::master);
  for (std::size_t m = 0; m < own.moments().size(); ++m)
    gather(ranks_, own.moments()[m], moment ? moment->optimizer.moments[m] : Tensor(), stage_->elements());
  std::vector<ElementRange> buffers;
  for (const std::int64_t count : stage_->buffer_counts()) {
    const std::int64_t begin = buffers.empty() ? 0 : buffers.back().end;
    buffers.push_back({begin, begin + count});
  }
  const Tensor steps = row_of(moment ? moment->buffers : stage_->own_buffers());
  if (buffers.back().end > 0) gather(ranks_, moment ? row_of(stage_->own_buffers()) : steps, steps, buffers);
  if (!moment) return nullptr;
  for (std::size_t i = 0; i < moment->buffers.size(); ++i)
    kernels::fill(moment->buffers[i].view(), steps.data<double>()[i]);
  moment->optimizer.steps = own.steps();
  moment->optimizer.learning_rate = own.learning_rate();
  moment->scaler = parts_.scaler.state();
  moment->loader = parts_.loader;
  restore(*moment, *all->model, *all->optimizer, all->scaler, all->products, all->loader);
  return all;
}

void Pipeline::measure(const data::TextExamples& texts) const {
  const Autocast region(plan_.recipe);
  for (std::int64_t i = 0; i < texts.count(); i += plan_.batch)
    static_cast<void>(answer_of(*stage_, data::texts_in_order(texts, i, plan_.batch)));
}

// What the first rank does in train::run, at the same steps.
void take_part_in_pipeline(const Plan& plan, TrainedParts& parts, std::int64_t step) {
  Pipeline& pipeline = *parts.pipeline;
  const StepRecords records(plan.device, kernels::StepRecords());
  for (std::int64_t t = step + 1; t <= plan.steps; ++t) {
    parts.optimizer->set_learning_rate(parts.schedule.at(t));
    static_cast<void>(pipeline.step(t, next_of(parts.loader, plan), records));
    parts.loader.skip();
    if (RunCurves::is_measured(plan, t)) pipeline.measure(RunCurves::measured_texts(plan));
    const bool stops = t < plan.steps && pipeline.stops();
    if (stops || (t < plan.steps && plan.save_every > 0 && t % plan.save_every == 0))
      static_cast<void>(pipeline.whole(t));
    if (stops) return;
  }
  static_cast<void>(pipeline.whole(plan.steps));
  pipeline.measure(plan.text->validation());
}

}  // namespace tinymp::train
