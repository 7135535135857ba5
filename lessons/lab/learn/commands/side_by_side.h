#pragma once

#include <string>
#include <vector>

namespace tinymp::lab {

/// The same sentence from several runs, as one: "at most 1.01|1.02 times". Empty where the words differ.
std::string side_by_side(const std::vector<std::string>& sentences);

}  // namespace tinymp::lab
