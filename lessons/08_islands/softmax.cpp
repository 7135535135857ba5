#include <fmt/format.h>
#include <lessons/08_islands/classifier.h>
#include <lessons/08_islands/questions.h>
#include <algorithm>

namespace tinymp::lab {
namespace {

const std::string softmaxes = "May a softmax be computed in FP16?";
const char *const fp32 = "FP32, fused", *const fp32_naive = "FP32, naive", *const naive = "FP16, naive",
                  *const shifted = "FP16, maximum subtracted", *const log_sum_exp = "FP16, log-sum-exp",
                  *const island = "FP16, naive on an FP32 island", *const fused = "FP16, fused",
                  *const skipping = "FP16, naive, dynamic S";

constexpr Recipe fp16{.compute = DType::f16, .gradient = DType::f16, .scaling = StaticScaling{.factor = 128}};

// y: the logits (B,C). Each op stores its result in their format.

/// -log(exp(y) / sum of exp(y)), as it is defined.
Tensor naive_loss(const Tensor& y, std::span<const std::int32_t> labels) {
  const Tensor e = exp(y);                       // (B,C)
  const Tensor p = divide_rows(e, row_sum(e));   // (B,C)
  return mean(scale(log(pick(p, labels)), -1));  // ()
}

/// The same with the largest y of a row subtracted from the row first: no exp is above 1.
Tensor shifted_loss(const Tensor& y, std::span<const std::int32_t> labels) {
  return naive_loss(subtract_rows(y, row_max(y)), labels);
}

/// log(sum of exp(y)) - y[label], shifted too: nothing is divided, and the log sees no share but a sum.
Tensor log_sum_exp_loss(const Tensor& y, std::span<const std::int32_t> labels) {
  const Tensor z = subtract_rows(y, row_max(y));                 // (B,C)
  return mean(subtract(log(row_sum(exp(z))), pick(z, labels)));  // ()
}

struct Variant {
  const char* name;
  Recipe recipe;
  train::Loss loss{};  ///< none: the fused cross_entropy
};

Tensor naive_loss_in_fp32(const Tensor& y, std::span<const std::int32_t> labels) {
  return naive_loss(cast(y, DType::f32), labels);
}

std::vector<Variant> variants() {
  return {{fp32, recipes::fp32},
          {fp32_naive, recipes::fp32, naive_loss},
          {naive, fp16, naive_loss},
          {skipping, recipes::fp16_dynamic, naive_loss},
          {shifted, fp16, shifted_loss},
          {log_sum_exp, fp16, log_sum_exp_loss},
          {island, fp16, naive_loss_in_fp32},
          {fused, fp16}};
}

train::Plan plan_for(const Lab& lab, const Variant& variant, std::uint64_t seed) {
  train::Plan plan = classifier_plan(lab, softmaxes, variant.name, variant.recipe, seed);
  plan.loss = variant.loss;
  return plan;
}

/// Skipping does not help: once the first logits are too large, they stay too large.
void claim_standstill(Lab& lab) {
  std::int64_t taken = 0;
  double scale = 0;
  for (const train::Run* run : lab.runs(softmaxes, skipping)) {
    taken = std::max(taken, run->result->taken);
    scale = std::max(scale, run->steps.back().scale);
  }
  lab.claim(
      taken <= 50 && scale < 1,
      fmt::format("... with a dynamic S: {} steps are taken at most (50 allowed), and S ends below 1", taken),
      Lab::Judged::in_smoke_too);
}

}  // namespace

void ask_about_softmax(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Variant& variant : variants()) lab.train(plan_for(lab, variant, seed));
  }
  for (const char* name : {naive, shifted}) {
    lab.say_findings(name, *lab.runs(softmaxes, name).front());
    lab.claim_nan(softmaxes, name, concat("softmax, ", name));
  }
  claim_standstill(lab);
  for (const char* name : {fp32_naive, log_sum_exp, island, fused}) claim_trains(lab, softmaxes, name, fp32);
  lab.verdict_on_nan(softmaxes, {fp32, fp32_naive, naive, skipping, shifted, log_sum_exp, island, fused});
}

}  // namespace tinymp::lab
