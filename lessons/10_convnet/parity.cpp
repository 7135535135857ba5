#include <fmt/format.h>
#include <lessons/10_convnet/questions.h>
#include <lessons/10_convnet/runs.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

void train_pairs(Lab& lab, void (*change)(train::Plan&)) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Variant& variant : {fp32(), mixed(lab)}) {
      train::Plan plan = plan_of(lab, parity, variant, seed);
      const std::int64_t usual = plan.steps;
      if (change != nullptr) change(plan);
      if (lab.options().smoke) plan.steps = usual;
      lab.train(std::move(plan));
    }
  }
}

void show_pairs(Lab& lab, const std::vector<double>& wide, const std::vector<double>& narrow) {
  lab.say("\nseed      FP32     Mixed   difference");
  for (std::size_t i = 0; i < wide.size(); ++i) {
    lab.say(fmt::format("{:>4} {:>9} {:>9} {:>12}", lab.seeds()[i], fixed(wide[i], 2), fixed(narrow[i], 2),
                        fixed(narrow[i] - wide[i], 2)));
  }
}

void claim_trains(Lab& lab) {
  const std::vector<const train::Run*> runs = lab.runs(parity, mixed(lab).name);
  const auto broken =
      std::ranges::count_if(runs, [](const train::Run* run) { return overflows_forward(*run); });
  lab.claim(
      broken == 0,
      fmt::format("Mixed: in no forward pass is anything infinite ({} of {} runs)", broken, runs.size()),
      Lab::Judged::in_smoke_too);
  const double least = smallest(lab.results(parity, fp32().name));
  lab.claim(least >= 35, fmt::format("FP32 learns: {} % or more (35 asked)", fixed(least, 2)));
}

void judge(Lab& lab) {
  const std::vector<double> wide = lab.results(parity, fp32().name),
                            narrow = lab.results(parity, mixed(lab).name);
  const std::vector<double> gaps = differences(narrow, wide);
  show_pairs(lab, wide, narrow);
  claim_trains(lab);
  if (gaps.size() < 2) {
    lab.verdict(parity, fmt::format("Mixed precision minus FP32, one pair: {} points. That says little: the "
                                    "chapter has five.",
                                    fixed(gaps.front(), 2)));
    return;
  }
  const Interval found = interval_of(gaps);
  const bool contains = found.low <= 0 && found.high >= 0;
  lab.number("mean difference", found.mean);
  lab.number("interval, low", found.low);
  lab.number("interval, high", found.high);
  lab.number("spread of FP32's seeds", largest(wide) - smallest(wide));
  const std::string text = fmt::format("{} points on average, 95 % interval {} to {}", fixed(found.mean, 2),
                                       fixed(found.low, 2), fixed(found.high, 2));
  lab.verdict(parity, fmt::format("Mixed precision minus FP32, {} pairs: {}. The interval {} 0.", gaps.size(),
                                  text, contains ? "contains" : "does not contain"));
  lab.claim(contains && std::abs(found.mean) <= 1,
            fmt::format("Mixed minus FP32: {} (0 in it, and 1 point on average allowed)", text));
}

}  // namespace

void ask_about_parity(Lab& lab) {
  train_pairs(lab, nullptr);
  judge(lab);
}

// He et al. 2015 (arXiv 1512.03385), section 4.2: 91.25 % on average, in FP32.
void compare_in_full(Lab& lab) {
  train_pairs(lab, [](train::Plan& plan) {
    plan.optimizer = train::optimizer_of<Sgd>({.lr = 0.1f, .momentum = 0.9f, .weight_decay = 1e-4f});
    plan.optimizer_name = "sgd lr=0.1 momentum=0.9 weight_decay=0.0001 step";
    plan.schedule = ScheduleKind::step;
    plan.warmup = 0;
    plan.steps = 64000;
    plan.log_every = 100;
  });
  judge(lab);
}

}  // namespace tinymp::lab
