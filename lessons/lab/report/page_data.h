#pragma once

#include <lessons/lab/report/curves.h>
#include <span>
#include <string>
#include <vector>

/// What page.js draws from.
namespace tinymp::report {

/// One section of a page: its groups and the panels made from them.
struct PageSection {
  std::vector<Group> groups;
  std::vector<Panel> panels;
};

/// JSON, not yet escaped for a <script>. Values keep 6 digits; null: not finite. At most 4000 points a curve.
std::string page_data(std::span<const PageSection> sections);

}  // namespace tinymp::report
