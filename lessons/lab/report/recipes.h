#pragma once

#include <lessons/lab/report/curves.h>
#include <string>
#include <vector>

/// What was trained how: the settings of each group beside each other.
namespace tinymp::report {

struct Setting {
  std::string name;                   ///< "compute", "growth_interval", "model"
  std::vector<std::string> values{};  ///< one a group; several values are joined, "" where a group has none
  bool differs() const;
};

/// The fields of the recipe and of its scaling as in a run log, then model, data, optimizer, batch, steps,
/// seeds. What no group has is left out.
std::vector<Setting> settings_of(std::span<const Group> groups);

}  // namespace tinymp::report
