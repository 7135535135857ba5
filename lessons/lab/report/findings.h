#pragma once

#include <lessons/lab/report/curves.h>
#include <span>
#include <string>
#include <vector>

namespace tinymp::report {

/// Where the first infinity or NaN of each recipe came from: "FP16, S = 2^24: Step 1, backward: ...". Where
/// several seeds found one, the first speaks for them and they are counted.
std::vector<std::string> finding_lines(std::span<const Group> groups);

}  // namespace tinymp::report
