#pragma once

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
};

/// A panel with as many points as a page takes: at most 4000 a curve, and where there are many curves fewer, so
/// that those of a hundred runs stay below 5 MB.
Panel thin_for_page(const Panel& panel);

/// What page.js draws from: JSON, not yet escaped for a <script>. Values keep 6 digits; null: not finite.
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

/// In a fold: commands, model, data, machine, and each run with its log.
std::string provenance_html(std::span<const Group> groups);

}  // namespace tinymp::report
