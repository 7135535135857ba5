#pragma once

#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/terminal.h>
#include <lessons/lab/report/view.h>
#include <ostream>
#include <string>
#include <vector>

/// One question, what was run to answer it, and the answer.
namespace tinymp::report {

struct ReportSection {
  std::string question;  ///< RunHeader::question of its runs
  std::string verdict;   ///< one line, computed from what was measured
  std::vector<Run> runs;
  RunsView view{};
};

/// Question, curves of the loss and (where they tell something) of the scale and the shares, table, what
/// became infinite or NaN first and where, the differences to the view's baseline, memory when
/// the view asks for it, verdict.
void print_section(std::ostream& out, const ReportSection& section, const TerminalStyle& style,
                   bool with_verdict = true);

/// One section for each question, runs and sections in the order in which they were made (RunHeader::date);
/// verdicts are left empty.
std::vector<ReportSection> sections_by_question(std::vector<Run> runs);

}  // namespace tinymp::report
