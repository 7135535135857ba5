#include <fmt/format.h>
#include <lessons/10_convnet/questions.h>
#include <lessons/10_convnet/runs.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

constexpr Accumulation f16{.format = DType::f16};
constexpr std::size_t few = 3;  ///< seeds of what is shown beside the pairs

std::vector<std::uint64_t> few_seeds(const Lab& lab) {
  std::vector<std::uint64_t> seeds = lab.seeds();
  seeds.resize(std::min(seeds.size(), few));
  return seeds;
}

/// Everything in FP16: weights without a master, momentum, S = 1, the sums of batch norm.
Variant throughout() { return {"All FP16", recipes::o3, f16}; }
Variant narrow_sums() { return {"Mixed, FP16 statistics", recipes::fp16_dynamic, f16}; }
Variant unscaled() { return {"Mixed, S = 1", recipes::fp16_master}; }

/// FP16 sums: infinite in the first forward pass, and on every seed NaN in the end.
void claim_broken(Lab& lab, const char* name) {
  const std::vector<const train::Run*> runs = lab.runs(all_fp16, name);
  const bool at_once = std::ranges::all_of(
      runs, [](const train::Run* run) { return overflows_forward(*run) && run->findings[0].step == 1; });
  lab.claim(at_once, fmt::format("{}: batch norm sums to infinity in step 1", name),
            Lab::Judged::in_smoke_too);
  if (lab.data().train.shape.channels == 1) return;  // on grey pictures it may take longer
  const bool all =
      std::ranges::all_of(runs, [](const train::Run* run) { return run->result->first_nonfinite_step > 0; });
  lab.claim(all, fmt::format("{}: NaN on every seed, first at step {}", name, first_nan_steps(runs)));
}

}  // namespace

Variant fp32() { return {"FP32"}; }

bool overflows_forward(const train::Run& run) {
  return std::ranges::any_of(run.findings,
                             [](const train::Finding& finding) { return finding.direction == "forward"; });
}

Variant mixed(const Lab& lab) {
  return {"Mixed", recipes::fp16_dynamic, lab.sabotaged() ? f16 : Accumulation{}};
}

train::Plan plan_of(Lab& lab, const std::string& question, const Variant& variant, std::uint64_t seed) {
  train::Plan plan;
  plan.question = question;
  plan.name = variant.name;
  plan.recipe = variant.recipe;
  plan.seed = seed;
  const data::ImageShape shape = lab.data().train.shape;
  const nn::ResNet::Images images{.size = shape.rows, .channels = shape.channels};
  plan.model = [images, sums = variant.sums](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::ResNet>(3, images, recipe, rng, BatchNormOptions{.sums = sums});
  };
  plan.optimizer = train::optimizer_of<Sgd>({.lr = 0.1f, .momentum = 0.9f});
  plan.optimizer_name = "sgd lr=0.1 momentum=0.9 cosine warmup=10";
  plan.schedule = ScheduleKind::cosine;
  plan.warmup = lab.steps(10, 2);
  if (shape.channels == 3) plan.pixels.normalise = data::cifar10_statistics;
  plan.pixels.crop_and_flip = true;
  plan.batch = lab.options().smoke ? 64 : 128;
  plan.steps = lab.steps(200, 12);
  plan.log_every = lab.steps(5, 1);
  return plan;
}

void ask_about_all_fp16(Lab& lab) {
  for (const std::uint64_t seed : few_seeds(lab)) {
    for (const Variant& variant : {throughout(), narrow_sums()}) {
      train::Plan plan = plan_of(lab, all_fp16, variant, seed);
      plan.steps = lab.steps(40, 12);  // nothing happens after a NaN
      plan.log_every = 1;
      lab.train(std::move(plan));
    }
  }
  std::string found;
  for (const Variant& variant : {throughout(), narrow_sums()}) {
    const std::vector<const train::Run*> runs = lab.runs(all_fp16, variant.name);
    const bool bad = std::ranges::all_of(
        runs, [](const train::Run* run) { return run->result->first_nonfinite_step > 0; });
    found += fmt::format("{}{}: {}", found.empty() ? "" : "; ", variant.name,
                         bad ? "NaN from step " + first_nan_steps(runs) : "no NaN");
    lab.say_findings(variant.name, *runs.front());
    claim_broken(lab, variant.name);
  }
  lab.verdict(all_fp16, found + ".");
}

void ask_about_scale(Lab& lab) {
  for (const std::uint64_t seed : few_seeds(lab)) {
    train::Plan plan = plan_of(lab, scale, unscaled(), seed);
    plan.shadow_every = lab.steps(40, 6);
    lab.train(std::move(plan));
  }
  std::vector<double> wide = lab.results(parity, fp32().name);
  wide.resize(few_seeds(lab).size());
  const double gap = mean(differences(lab.results(scale, unscaled().name), wide));
  const double share = 100 * largest(lab.logged(scale, unscaled().name, &train::LogRecord::flushed));
  lab.number("S = 1 minus FP32", gap);
  lab.number("S = 1: flushed at most (%)", share);
  lab.verdict(scale, fmt::format("S = 1 minus FP32: {} points on average. At most {} % of a step's "
                                 "gradients are flushed to zero.",
                                 fixed(gap, 2), fixed(share, 3)));
  lab.claim(share <= 1,
            fmt::format("S = 1: at most {} % of a step's gradients are flushed (1 allowed)", fixed(share, 3)),
            Lab::Judged::in_smoke_too);
  lab.claim(std::abs(gap) <= 2,
            fmt::format("... it ends {} points from FP32 on average (2 allowed)", fixed(gap, 2)));
}

}  // namespace tinymp::lab
