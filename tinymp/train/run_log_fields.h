#pragma once

#include <tinymp/train/run_log.h>
#include <concepts>
#include <type_traits>

/// The keys of a run log, each written once: writer and reader both walk these lists. They call
/// `field(key, member)` for every member, in an order that is good to read.
namespace tinymp::train {

/// A program refuses a version that it does not know. Version 1 may change until 0.1.0 is out. It has gained
/// the lines "sizes" and "finding"; older programs refuse them, as they refuse any line that is no step.
inline constexpr int run_log_version = 1;

template <class T, class U>
concept MaybeConst = std::same_as<std::remove_const_t<T>, U>;

template <class F>
void fields(MaybeConst<RunHeader> auto& h, F&& field) {
  field("lesson", h.lesson);
  field("question", h.question);
  field("name", h.name);
  field("recipe", h.recipe);
  field("seed", h.seed);
  field("model", h.model);
  field("data", h.data);
  field("optimizer", h.optimizer);
  field("steps", h.steps);
  field("batch", h.batch);
  field("micro_batches", h.micro_batches);
  field("recompute", h.recompute);
  field("ranks", h.ranks);
  field("wire", h.wire);
  field("metric", h.metric);
  field("higher_is_better", h.higher_is_better);
  field("command", h.command);
  field("date", h.date);
  field("commit", h.commit);
  field("compiler", h.compiler);
  field("device", h.device);
  field("threads", h.threads);
  field("pieces", h.pieces);
}

template <class F>
void fields(MaybeConst<Recipe> auto& r, F&& field) {
  field("compute", r.compute);
  field("accumulate", r.accumulate);
  field("gradient", r.gradient);
  field("master", r.master);
  field("state", r.state);
  field("autocast", r.autocast);
  field("fp8_forward", r.eight_bits.forward);
  field("fp8_backward", r.eight_bits.backward);
  field("fp8_gradient", r.eight_bits.gradient);
  field("fp8_saturates", r.eight_bits.saturate);
  field("fp8_exempt", r.eight_bits.exempt);
  field("fp8_scaling", r.eight_bits.scaling);
  field("fp8_margin", r.eight_bits.margin);
  field("fp8_history", r.eight_bits.history);
  field("fp8_amax", r.eight_bits.amax);
  for (const RoundingField& rounding : rounding_fields) field(rounding.key, r.rounding.*rounding.member);
  field("kahan", r.kahan);
  field("fp32_norm", r.fp32_norm_parameters);
  field("scaling", r.scaling);
}

/// A scaling also has a "kind", the name of its policy, which tells the fields.
template <class F>
void fields(MaybeConst<LossScaling> auto& scaling, F&& field) {
  visit_fields(scaling, [&](const ScalingField& about, auto& member) { field(about.key, member); });
}

template <class F>
void fields(MaybeConst<LogRecord> auto& r, F&& field) {
  field("step", r.step);
  field("loss", r.loss);
  field("scale", r.scale);
  field("skipped", r.skipped);
  field("skips", r.skips);
}

/// The writer leaves these out when they were not measured.
template <class F>
void sampled_fields(MaybeConst<LogRecord> auto& r, F&& field) {
  field("lr", r.lr);
  field("zero", r.zero);
  field("subnormal", r.subnormal);
  field("flushed", r.flushed);
  field("underflowed", r.underflowed);
  field("absorbed", r.absorbed);
  field("grad_norm", r.grad_norm);
  field("epoch", r.epoch);
  field("seconds", r.seconds);
  field("validation_loss", r.validation_loss);
  field("metric", r.metric);
}

template <class F>
void fields(MaybeConst<MemoryBytes> auto& m, F&& field) {
  field("weights", m.weights);
  field("masters", m.masters);
  field("optimizer", m.optimizer);
  field("gradients", m.gradients);
  field("activations", m.activations);
  field("workspace", m.workspace);
  field("scratch", m.scratch);
}

template <class F>
void fields(MaybeConst<Finding> auto& r, F&& field) {
  field("kind", r.kind);
  field("step", r.step);
  field("sentence", r.sentence);
}

/// The writer leaves these out when nothing was found.
template <class F>
void traced_fields(MaybeConst<Finding> auto& r, F&& field) {
  field("direction", r.direction);
  field("where", r.where);
  field("op", r.op);
  field("dtype", r.dtype);
  field("shape", r.shape);
  field("value", r.value);
  field("low", r.low);
  field("high", r.high);
  field("parameter", r.parameter);
}

template <class F>
void fields(MaybeConst<RunResult> auto& r, F&& field) {
  field("value", r.value);
  field("taken", r.taken);
  field("skipped", r.skipped);
  field("first_nonfinite_step", r.first_nonfinite_step);
  field("seconds", r.seconds);
  field("weights", r.weights);  // left out when empty
}

/// The writer leaves these out when they were not measured.
template <class F>
void measured_fields(MaybeConst<RunResult> auto& r, F&& field) {
  field("peak_bytes", r.peak_bytes);
  field("peak_without_scratch", r.peak_without_scratch);
  field("memory", r.memory);
}

}  // namespace tinymp::train
