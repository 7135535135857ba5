#include <fmt/format.h>
#include <lessons/09_autocast/verdicts.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {

void tell_findings(Lab& lab, const std::string& question, const char* name, const char* heading) {
  for (const train::Run* run : lab.runs(question, name)) {
    if (run->findings.empty()) continue;
    lab.say(fmt::format("\n{}, seed {}", heading, run->header.seed));
    for (const train::Finding& finding : run->findings) lab.say_finding(finding.sentence);
    return;
  }
}

void claim_nan(Lab& lab, const std::string& question, const char* name, const std::string& what) {
  const std::vector<const train::Run*> runs = lab.runs(question, name);
  std::int64_t first = runs.front()->result->first_nonfinite_step, last = first;
  bool all = true;
  for (const train::Run* run : runs) {
    const std::int64_t step = run->result->first_nonfinite_step;
    first = std::min(first, step);
    last = std::max(last, step);
    all = all && step > 0 && std::isnan(run->result->value);
  }
  lab.claim(all,
            fmt::format("{}: NaN on every seed, first at step {}", what,
                        range(static_cast<double>(first), static_cast<double>(last), 0)),
            Lab::Judged::in_smoke_too);
}

void claim_as_o0(Lab& lab, const std::string& question, const char* name, const std::string& what,
                 double allowed) {
  std::vector<double> gaps = differences(lab.results(question, o0), lab.results(question, name));
  for (double& gap : gaps) gap = std::abs(gap);
  const double most = largest(gaps);  // NaN when a run ended in NaN
  lab.claim(most <= allowed, fmt::format("{}: at most {} points from O0 on each seed ({} allowed)", what,
                                         fixed(most, 2), allowed));
}

void claim_falls(Lab& lab, const std::string& question, const char* name, const std::string& what) {
  std::vector<double> left;
  for (const train::Run* run : lab.runs(question, name))
    left.push_back(run->steps.back().loss / run->steps.front().loss);
  lab.claim(
      largest(left) <= 0.5,
      fmt::format("{}: of the first loss at most {} is left (0.5 allowed)", what, fixed(largest(left), 2)),
      Lab::Judged::in_smoke_too);
}

std::string nan_or_trained(const Lab& lab, const std::string& question,
                           const std::vector<const char*>& curves) {
  std::string trained, lost;
  for (const char* curve : curves) {
    std::string& list = std::isnan(mean(lab.results(question, curve))) ? lost : trained;
    list += concat(list.empty() ? "" : " | ", curve);
  }
  return fmt::format("NaN: {}. Trained: {}.", lost.empty() ? "none" : lost,
                     trained.empty() ? "none" : trained);
}

}  // namespace tinymp::lab
