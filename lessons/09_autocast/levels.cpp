#include <fmt/format.h>
#include <lessons/05_master_weights/fine_tuning.h>
#include <lessons/08_islands/classifier.h>
#include <lessons/09_autocast/questions.h>
#include <tinymp/nn/deep_mlp.h>
#include <algorithm>

namespace tinymp::lab {
namespace {

const std::string ordinary = "Which levels train an ordinary classifier?";
const char *const o1 = "O1", *const o2 = "O2", *const o3 = "O3", *const o3_adam = "O3, FP32 moments";

std::vector<Contender> levels() {
  return {{o0, recipes::o0}, {o1, recipes::o1}, {o2, recipes::o2}, {o3, recipes::o3}};
}

train::Plan ordinary_plan(const Lab& lab, const Contender& level, std::uint64_t seed) {
  train::Plan plan = classifier_plan(lab, ordinary, level.name, level.recipe, seed);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 128, 10});
  return plan;
}

train::Plan small_steps_plan(const Lab& lab, const Contender& level, std::uint64_t seed,
                             const nn::Model& start) {
  train::Plan plan = fine_tuning_plan(lab, level, seed, start);
  plan.histogram_every = 0;
  return plan;
}

/// The share of updates that moved nothing, over the logged steps of all seeds.
double lost(const Lab& lab, const char* name) {
  return 100 * mean(lab.logged(small_updates, name, [](const train::LogRecord& step) {
           return step.underflowed + step.absorbed;
         }));
}

/// Loss of the worst logged step over that of the first, on the best seed.
double worst_loss(const Lab& lab, const char* name) {
  std::vector<double> worst;
  for (const train::Run* run : lab.runs(small_updates, name)) {
    double highest = 0;
    for (const train::LogRecord& record : run->steps) highest = std::max(highest, record.loss);
    worst.push_back(highest / run->steps.front().loss);
  }
  return smallest(worst);
}

double points_below_o0(const Lab& lab, const char* name) {
  return smallest(differences(lab.results(small_updates, o0), lab.results(small_updates, name)));
}

void claim_small_updates(Lab& lab) {
  for (const char* name : {o1, o2})
    claim_as_o0(lab, small_updates, name, concat("small updates, ", name), 0.5);
  const double stalls = points_below_o0(lab, o3_adam), asked = lab.is_cut() ? 15 : 25;
  lab.claim(stalls >= asked, fmt::format("small updates, {}: at least {} points below O0 ({} asked)", o3_adam,
                                         fixed(stalls, 1), asked));
  const double with = lost(lab, o2), without = lost(lab, o3_adam);
  lab.claim(with <= without / 2,
            fmt::format("... under O2 {} % of the updates move nothing, under {} {} % (O2: at most half)",
                        fixed(with, 1), o3_adam, fixed(without, 1)),
            Lab::Judged::in_smoke_too);
  const double breaks = worst_loss(lab, o3);
  lab.claim(breaks >= 20,
            fmt::format("small updates, O3: the loss climbs to at least {} times the first (20 asked)",
                        fixed(breaks, 0)),
            Lab::Judged::in_smoke_too);
  show_findings(lab, small_updates, o3, "O3, small updates");
  const double below = points_below_o0(lab, o3);
  lab.claim(below >= 10, fmt::format("... and ends at least {} points below O0 (10 asked)", fixed(below, 1)));
}

void give_verdict_on_small_updates(Lab& lab) {
  const auto of = [&](const char* name) {
    return fmt::format("{} {} %", name, spread(lab.results(small_updates, name), 1));
  };
  lab.verdict(small_updates, fmt::format("{}, {}, {}; {}, {}.", of(o0), of(o1), of(o2), of(o3), of(o3_adam)));
}

}  // namespace

void ask_about_levels(Lab& lab) {
  // O3 keeps an optimizer's moments in FP16, which Adam cannot bear (lesson 08). With FP32 moments what is
  // left of O3 is lesson 05's "FP16 weights".
  std::vector<Contender> with_adam = levels();
  with_adam.push_back({o3_adam, recipes::fp16_weights});
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& level : levels()) lab.train(ordinary_plan(lab, level, seed));
    const auto start = lab.prepare(pretraining_plan(lab, seed));
    for (const Contender& level : with_adam) lab.train(small_steps_plan(lab, level, seed, *start));
  }
  for (const char* name : {o1, o2, o3}) {
    lab.claim_falls(ordinary, name, concat("ordinary classifier, ", name));
    claim_as_o0(lab, ordinary, name, concat("ordinary classifier, ", name), lab.is_cut() ? 3 : 1);
  }
  lab.verdict_on_nan(ordinary, {o0, o1, o2, o3});
  claim_small_updates(lab);
  give_verdict_on_small_updates(lab);
}

}  // namespace tinymp::lab
