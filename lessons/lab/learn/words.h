#pragma once

#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace tinymp {
struct ExplainedOp;  // tinymp/amp/explain.h
}

/// Texts for people, as they fit the terminal.
namespace tinymp::lab {

/// Each line of the text broken at spaces, so that none takes more than `width` columns. What a line begins
/// with (spaces) its continuations begin with too. Of a row of a table, columns apart by two spaces, the last
/// column goes on below itself; where that has no room, below the row. A word longer than `width`, a path
/// say, stays whole.
std::string fitted(std::string_view text, int width);

/// ... for standard output, as wide as it is now.
std::string fitted(std::string_view text);

/// The text as it may be sent to a terminal, line by line: printable() of terminal.h.
std::string printable_lines(std::string_view text);

/// ... for standard error. Where that is no terminal the text stays as it is: in a log a message is one line.
std::string fitted_for_errors(std::string_view text);

/// What explain() found, a line an op, the bytes added up at its end. In a table wider than `width` cells go over several
/// lines (report::format_table).
std::string ops_table(const std::vector<ExplainedOp>& ops, int width = std::numeric_limits<int>::max());

}  // namespace tinymp::lab
