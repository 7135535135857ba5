#include <lessons/lab/report/findings.h>
#include <tinymp/base/error.h>

namespace tinymp::report {

std::vector<std::string> finding_lines(std::span<const Group> groups) {
  std::vector<std::string> lines;
  for (const Group& group : groups) {
    std::vector<const Run*> with;
    for (const Run* run : group.runs) {
      if (!run->findings.empty()) with.push_back(run);
    }
    if (with.empty()) continue;
    const Run& first = *with.front();
    const std::string who = group.runs.size() == 1
                                ? group.name
                                : concat(group.name, ", seed ", first.header.seed, " (", with.size(), " of ",
                                         group.runs.size(), " seeds have one)");
    for (const train::Finding& finding : first.findings) lines.push_back(who + ": " + finding.sentence);
  }
  return lines;
}

}  // namespace tinymp::report
