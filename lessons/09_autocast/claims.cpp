#include <fmt/format.h>
#include <lessons/09_autocast/questions.h>

namespace tinymp::lab {

void show_findings(Lab& lab, const std::string& question, const char* name, const char* heading) {
  for (const train::Run* run : lab.runs(question, name)) {
    if (run->findings.empty()) continue;
    return lab.say_findings(fmt::format("{}, seed {}", heading, run->header.seed), *run);
  }
}

void claim_as_o0(Lab& lab, const std::string& question, const char* name, const std::string& what,
                 double allowed) {
  const double most = largest_gap(lab.results(question, o0), lab.results(question, name));
  lab.claim(most <= allowed, fmt::format("{}: at most {} points from O0 on each seed ({} allowed)", what,
                                         fixed(most, 2), allowed));
}

}  // namespace tinymp::lab
