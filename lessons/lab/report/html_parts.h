#pragma once

#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/gradient_sizes.h>
#include <lessons/lab/report/table.h>
#include <span>
#include <string>
#include <vector>

/// What html_report() puts a page together from.
namespace tinymp::report {

/// One section of a page: its groups and the panels made from them.
struct PageSection {
  std::vector<Group> groups;
  std::vector<Panel> panels;
  std::size_t steps_a_point = 1;  ///< more where curves were thinned
  XAxis x = XAxis::step;
};

/// What the page's scripts draw from: JSON, not yet escaped for a <script>. Values keep 6 digits; null: not finite.
std::string page_data(std::span<const PageSection> sections);

/// A table of a page. Its header is text; the cells of its rows are HTML, the first of a row names it.
/// `box` and `kind` are classes of page.css; in a "summary" each cell tells its column, for a narrow screen.
std::string table_html(const Table& table, const std::string& box = "table card",
                       const std::string& kind = "");

/// The table of a section (runs_table.cpp) with the style of each curve, how updates were lost, and a line
/// that explains the words of its header.
std::string summary_html(const PageSection& section);

/// For each group that was looked at, the sizes of its gradients and updates: bars, sentences, and in a fold
/// the table by parameter.
std::string sizes_html(std::span<const Group> groups);
/// The bars alone, as SVG.
std::string svg_bars(const Bars& bars, std::size_t index);

/// For each group that was looked at several times, the sizes of its gradients over the steps.
std::string heat_maps_html(std::span<const Group> groups);

/// Final and best values, the differences to a baseline; empty where summary_html() has said it all.
std::string comparison_html(const Comparison& comparison, const RunsView& view);

/// The settings of each group, a column a group; what differs from the baseline, or from the first, is marked.
std::string recipes_html(std::span<const Group> groups, const Comparison& comparison);

/// The bytes of each kind of tensor; empty where no run measured them.
std::string memory_html(std::span<const Group> groups);

/// In a fold: commands, model, data, machine, and each run with its log.
std::string provenance_html(std::span<const Group> groups);

}  // namespace tinymp::report
