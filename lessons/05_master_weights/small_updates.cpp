#include <fmt/format.h>
#include <lessons/05_master_weights/small_updates.h>
#include <lessons/lab/report/number.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/adam.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

// Points of accuracy.
constexpr double fails = 5;       ///< this far below FP32: small updates do not survive
constexpr double unharmed = 1;    ///< this near to FP32: no harm
constexpr double restored = 0.5;  ///< this near to FP32: a master copy brings it back

train::Plan mlp_plan(float lr) {
  train::Plan plan;
  plan.task = train::Task::classify;
  plan.model = [](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 128, 10}, recipe, rng);
  };
  plan.optimizer = [lr](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = lr}, recipe);
  };
  plan.optimizer_name = concat("adam lr=", lr);
  plan.batch = 128;
  return plan;
}

std::string percent_of(double accuracy) { return fmt::format("{:.1f} %", accuracy); }

/// The number of seeds on which FP16 weights fall behind, if it is neither all nor none.
std::string on_some_seeds(const SmallUpdates& measured) {
  const std::vector<double> gaps = differences(measured.fp32, measured.fp16_weights);
  const auto failed =
      std::ranges::count_if(gaps, [](double gap) { return !(gap < fails); });  // NaN fails too
  const auto seeds = std::ssize(gaps);
  if (failed == 0 || failed == seeds) return "";
  return fmt::format(" (by {:.0f} points or more on {} of {} seeds)", fails, failed, seeds);
}

std::string about_weights(const SmallUpdates& measured, double fp32, double weights) {
  const std::string lost = std::isnan(measured.lost) ? ""
                                                     : fmt::format("; {} of the updates moved nothing",
                                                                   report::percent(measured.lost));
  const double gap = fp32 - weights;
  if (std::isnan(weights))
    return "No: with FP16 weights fine-tuning ends in NaN" + on_some_seeds(measured) + ".";
  if (gap >= fails) {
    return fmt::format("No: with FP16 weights fine-tuning stalls at {}, {:.1f} points below FP32's {}{}{}.",
                       percent_of(weights), gap, percent_of(fp32), on_some_seeds(measured), lost);
  }
  if (gap > unharmed) {
    return fmt::format("In part: FP16 weights reach {}, {:.1f} points below FP32's {}{}{}.",
                       percent_of(weights), gap, percent_of(fp32), on_some_seeds(measured), lost);
  }
  return fmt::format("Yes, here: FP16 weights reach {}, FP32 {}{}{}.", percent_of(weights), percent_of(fp32),
                     on_some_seeds(measured), lost);
}

std::string about_master(double fp32, double weights, double master) {
  if (std::isnan(master)) return "With an FP32 master copy fine-tuning ends in NaN.";
  const std::string reached = percent_of(master);
  if (!(fp32 - weights <= unharmed)) {  // there was something to bring back
    if (fp32 - master <= restored)
      return fmt::format("An FP32 master copy of the weights brings it back: {}.", reached);
    if (master > weights || std::isnan(weights)) {
      return fmt::format("An FP32 master copy of the weights brings back a part: {}.", reached);
    }
    return fmt::format("An FP32 master copy of the weights does not help: {}.", reached);
  }
  return fmt::format("With an FP32 master copy of the weights: {}.", reached);
}

/// The share of updates that FP16 weights lose, over all logged steps of all seeds.
double share_lost(const std::vector<const train::Run*>& runs) {
  std::vector<double> shares;
  for (const train::Run* run : runs) {
    for (const train::LogRecord& record : run->steps) {
      if (std::isnan(record.underflowed) || std::isnan(record.absorbed)) continue;
      shares.push_back(record.underflowed + record.absorbed);
    }
  }
  return mean(shares);
}

}  // namespace

std::vector<Contender> small_updates_contenders() {
  return {{"FP32", recipes::fp32},
          {"FP16 weights", recipes::fp16_weights},
          {"FP16 + FP32 master", recipes::fp16_master}};
}

train::Plan pretraining_plan(const Lab& lab, std::uint64_t seed) {
  train::Plan plan = mlp_plan(1e-3f);
  plan.question = "What does fine-tuning start from?";
  plan.name = "pretraining";
  plan.seed = seed;
  plan.steps = lab.steps(1000, 20);
  return plan;
}

train::Plan fine_tuning_plan(const Lab& lab, const Contender& contender, std::uint64_t seed,
                             const nn::Model& start) {
  train::Plan plan = mlp_plan(fine_tuning_rate);
  plan.question = small_updates;
  plan.name = contender.name;
  plan.recipe = contender.recipe;
  plan.seed = seed;
  plan.pixels.transpose = true;
  plan.start = &start;
  plan.histogram_every = lab.steps(1000, 10);
  plan.steps = lab.steps(3000, 20);
  return plan;
}

SmallUpdates measured_small_updates(const Lab& lab) {
  return {.fp32 = lab.results(small_updates, "FP32"),
          .fp16_weights = lab.results(small_updates, "FP16 weights"),
          .fp16_master = lab.results(small_updates, "FP16 + FP32 master"),
          .lost = share_lost(lab.runs(small_updates, "FP16 weights"))};
}

std::string verdict_on(const SmallUpdates& measured) {
  if (measured.fp32.empty() || measured.fp16_weights.empty()) return "Not measured.";
  const double fp32 = mean(measured.fp32), weights = mean(measured.fp16_weights);
  if (std::isnan(fp32)) return "No answer: FP32 itself ended in NaN.";
  const std::string answer = about_weights(measured, fp32, weights);
  return measured.fp16_master.empty()
             ? answer
             : answer + " " + about_master(fp32, weights, mean(measured.fp16_master));
}

void run_small_updates(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    const std::unique_ptr<nn::Model> start = lab.prepare(pretraining_plan(lab, seed));
    for (const Contender& contender : small_updates_contenders()) {
      lab.train(fine_tuning_plan(lab, contender, seed, *start));
    }
  }
  lab.verdict(small_updates, verdict_on(measured_small_updates(lab)));
}

}  // namespace tinymp::lab
