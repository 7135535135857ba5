#pragma once

#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/terminal.h>
#include <span>
#include <string>
#include <vector>

/// Tables of text, for the terminal and for the page.
namespace tinymp::report {

struct Table {
  std::vector<std::string> header;
  std::vector<Align> align;  ///< of each column; a missing one is left
  std::vector<std::vector<std::string>> rows;
};

/// Columns two spaces apart under a rule (no header: no rule); each line ends in a newline and has no
/// trailing spaces. In a table wider than the terminal the cells of its widest left-aligned columns go over
/// several lines.
std::string format_table(const Table& table, const TerminalStyle& style);

/// One row a recipe: the metric (mean over the seeds, smallest and largest beside it), the shares of lost
/// updates and flushed gradients over all steps where they were measured, skipped steps, final loss scale,
/// time, state
/// ("done", "NaN at step 12", "1 of 3 interrupted at step 80"). Columns in which no run has anything to say
/// are left out.
Table runs_table(std::span<const Run> runs);

/// The same for groups made before.
Table groups_table(std::span<const Group> groups);

}  // namespace tinymp::report
