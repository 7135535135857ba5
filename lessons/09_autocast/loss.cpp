#include <fmt/format.h>
#include <lessons/08_islands/classifier.h>
#include <lessons/09_autocast/questions.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/autocast_lists.h>
#include <tinymp/ops/ops.h>

namespace tinymp::lab {
namespace {

const std::string lists_of_loss = "May the ops of a loss stand on the FP16 list?";
const char *const lists = "O1, the lists", *const all_narrow = "O1, all four in FP16",
                  *const exp_narrow = "O1, exp in FP16", *const row_sum_narrow = "O1, row_sum in FP16",
                  *const log_narrow = "O1, log in FP16",
                  *const softmax_narrow = "O1, softmax in FP16, log in FP32",
                  *const mean_narrow = "O1, mean in FP16", *const fused_narrow = "O1, cross_entropy in FP16",
                  *const off = "O1, off in the loss", *const off_cast = "O1, off in the loss, y cast";

using Rules = std::vector<AutocastRule>;

/// The rules of these ops replaced: a region inside that of the training, which holds for the loss alone.
train::Loss loss_under(const Rules& exceptions) {
  return [exceptions](const Tensor& y, std::span<const std::int32_t> labels) {
    const Autocast region(DType::f16, exceptions);
    return plain_loss(y, labels);
  };
}

Rules in_fp16(const std::vector<std::string>& ops) {
  Rules rules;
  for (const std::string& op : ops) rules.push_back({op, RunsIn::narrow});
  return rules;
}

/// log is on the right list, but FP16 has rounded its input, and its gradient goes back through that cast.
Tensor softmax_in_fp16(const Tensor& y, std::span<const std::int32_t> labels) {
  const Autocast region(DType::f16, in_fp16({"softmax"}));
  return mean(scale(log(pick(softmax(y), labels)), -1));
}

Tensor fused_in_fp16(const Tensor& y, std::span<const std::int32_t> labels) {
  const Autocast region(DType::f16, in_fp16({"cross_entropy"}));
  return cross_entropy(y, labels);
}

/// Autocast is off: nothing is cast any more, and y is FP16.
Tensor loss_off(const Tensor& y, std::span<const std::int32_t> labels) {
  const Autocast none(DType::f32);
  return plain_loss(y, labels);
}

Tensor loss_off_y_cast(const Tensor& y, std::span<const std::int32_t> labels) {
  const Autocast none(DType::f32);
  return plain_loss(cast(y, DType::f32), labels);
}

struct Variant {
  const char* name;
  train::Loss loss;
};

/// Sabotage: the curve "the lists" has the ops of the loss on the FP16 list.
std::vector<Variant> variants(const Lab& lab) {
  const Rules all = in_fp16({"exp", "row_sum", "log", "mean"});
  return {{o0, plain_loss},
          {lists, lab.sabotaged() ? loss_under(all) : plain_loss},
          {all_narrow, loss_under(all)},
          {exp_narrow, loss_under(in_fp16({"exp"}))},
          {row_sum_narrow, loss_under(in_fp16({"row_sum"}))},
          {log_narrow, loss_under(in_fp16({"log"}))},
          {softmax_narrow, softmax_in_fp16},
          {mean_narrow, loss_under(in_fp16({"mean"}))},
          {fused_narrow, fused_in_fp16},
          {off, loss_off},
          {off_cast, loss_off_y_cast}};
}

/// S is constant, so that a step with a NaN is taken and not skipped.
train::Plan plan_for(const Lab& lab, const Variant& variant, std::uint64_t seed) {
  const Recipe o1{.autocast = DType::f16, .scaling = StaticScaling{.factor = 128}};
  train::Plan plan =
      classifier_plan(lab, lists_of_loss, variant.name, variant.name == o0 ? recipes::o0 : o1, seed);
  plan.loss = variant.loss;
  return plan;
}

}  // namespace

Tensor plain_loss(const Tensor& y, std::span<const std::int32_t> labels) {
  const Tensor e = exp(y);                       // (B,C)
  const Tensor p = divide_rows(e, row_sum(e));   // (B,C)
  return mean(scale(log(pick(p, labels)), -1));  // ()
}

void ask_about_the_loss(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Variant& variant : variants(lab)) lab.train(plan_for(lab, variant, seed));
  }
  for (const char* name : {lists, mean_narrow, fused_narrow, off_cast}) {
    lab.claim_falls(lists_of_loss, name, name);
    claim_as_o0(lab, lists_of_loss, name, name, lab.is_cut() ? 3 : 1);
  }
  for (const char* name : {all_narrow, exp_narrow, row_sum_narrow, log_narrow, softmax_narrow, off})
    lab.claim_nan(lists_of_loss, name, name);
  for (const char* name : {exp_narrow, row_sum_narrow, log_narrow, softmax_narrow})
    show_findings(lab, lists_of_loss, name, name);
  lab.verdict_on_nan(lists_of_loss, {o0, lists, all_narrow, exp_narrow, row_sum_narrow, log_narrow,
                                     softmax_narrow, mean_narrow, fused_narrow, off, off_cast});
}

}  // namespace tinymp::lab
