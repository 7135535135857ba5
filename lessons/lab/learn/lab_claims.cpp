#include <fmt/format.h>
#include <lessons/lab/learn/lab.h>
#include <algorithm>
#include <cmath>

// What several chapters say and claim about their runs.
namespace tinymp::lab {

void Lab::claim_nan(const std::string& question, const std::string& name, const std::string& what,
                    Judged when) {
  const std::vector<const train::Run*> found = runs(question, name);
  const bool all = ends_in_nan(question, name) && std::ranges::all_of(found, [](const train::Run* run) {
                     return run->result->first_nonfinite_step > 0;
                   });
  claim(all, fmt::format("{}: NaN on every seed, first at step {}", what, first_nan_steps(found)), when);
}

void Lab::claim_falls(const std::string& question, const std::string& name, const std::string& what) {
  std::vector<double> left;
  for (const train::Run* run : runs(question, name))
    left.push_back(run->steps.back().loss / run->steps.front().loss);
  const double most = largest(left), allowed = 0.5;
  claim(most <= allowed,
        fmt::format("{}: of the first loss at most {} is left ({} allowed)", what, fixed(most, 2), allowed),
        Judged::in_smoke_too);
}

void Lab::claim_same(const std::string& question, const std::string& a, const std::string& b,
                     const std::string& what, double allowed) {
  const double points = largest_gap(results(question, a), results(question, b));
  claim(points <= allowed, fmt::format("{} within {} points ({} allowed)", what, fixed(points, 2), allowed));
}

void Lab::verdict_on_nan(const std::string& question, const std::vector<std::string>& names) {
  std::string trained, lost;
  for (const std::string& name : names) {
    std::string& list = std::isnan(mean(results(question, name))) ? lost : trained;
    list += (list.empty() ? "" : " | ") + name;
  }
  verdict(question, fmt::format("NaN: {}. Trained: {}.", lost.empty() ? "none" : lost,
                                trained.empty() ? "none" : trained));
}

void Lab::say_findings(const std::string& heading, const train::Run& run) {
  say("\n" + heading);
  for (const train::Finding& finding : run.findings) say_finding(finding.sentence);
}

std::string first_nan_steps(const std::vector<const train::Run*>& runs) {
  std::vector<double> steps;
  for (const train::Run* run : runs) steps.push_back(static_cast<double>(run->result->first_nonfinite_step));
  return range(smallest(steps), largest(steps), 0);
}

}  // namespace tinymp::lab
