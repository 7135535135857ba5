#include <fmt/format.h>
#include <lessons/08_islands/verdicts.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

/// The first step with a loss that is not finite, on every seed: "14 to 17".
std::string steps_of(const std::vector<const train::Run*>& runs) {
  std::int64_t first = runs.front()->result->first_nonfinite_step, last = first;
  for (const train::Run* run : runs) {
    first = std::min(first, run->result->first_nonfinite_step);
    last = std::max(last, run->result->first_nonfinite_step);
  }
  return first == last ? fmt::format("{}", first) : fmt::format("{} to {}", first, last);
}

}  // namespace

train::Plan classifier_plan(const Lab& lab, const std::string& question, const char* name,
                            const Recipe& recipe, std::uint64_t seed) {
  train::Plan plan;
  plan.question = question;
  plan.name = name;
  plan.recipe = recipe;
  plan.seed = seed;
  plan.batch = 128;
  plan.steps = lab.steps(600, 100);
  plan.log_every = 1;
  return plan;
}

void tell_findings(Lab& lab, const std::string& question, const char* name, const char* heading) {
  lab.say(fmt::format("\n{}", heading));
  for (const train::Finding& finding : lab.runs(question, name).front()->findings)
    lab.say_finding(finding.sentence);
}

void claim_nan(Lab& lab, const std::string& question, const char* name, const std::string& what,
               Lab::Judged when) {
  const std::vector<const train::Run*> runs = lab.runs(question, name);
  bool all = true;
  for (const train::Run* run : runs)
    all = all && run->result->first_nonfinite_step > 0 && std::isnan(run->result->value);
  lab.claim(all, fmt::format("{}: NaN on every seed, first at step {}", what, steps_of(runs)), when);
}

void claim_trains(Lab& lab, const std::string& question, const char* name, const char* twin) {
  std::vector<double> left;
  for (const train::Run* run : lab.runs(question, name))
    left.push_back(run->steps.back().loss / run->steps.front().loss);
  const double most = largest(left), asked = 0.5;
  lab.claim(
      most <= asked,
      fmt::format("... {}: of the first loss at most {} is left ({} allowed)", name, fixed(most, 2), asked),
      Lab::Judged::in_smoke_too);
  const double below = largest(differences(lab.results(question, twin), lab.results(question, name)));
  const double allowed = lab.is_cut() ? 3 : 1;
  lab.claim(below <= allowed, fmt::format("... {}: at most {} points below {} ({} allowed)", name,
                                          fixed(std::max(below, 0.0), 2), twin, allowed));
}

void give_verdict(Lab& lab, const std::string& question, const std::vector<std::string>& curves) {
  std::string trained, lost;
  for (const std::string& curve : curves) {
    std::string& list = std::isnan(mean(lab.results(question, curve))) ? lost : trained;
    list += (list.empty() ? "" : " | ") + curve;
  }
  lab.verdict(question, fmt::format("NaN: {}. Trained: {}.", lost.empty() ? "none" : lost,
                                    trained.empty() ? "none" : trained));
}

}  // namespace tinymp::lab
