#include <unistd.h>

#include <lessons/lab/learn/words.h>
#include <lessons/lab/report/table.h>
#include <lessons/lab/report/terminal.h>
#include <tinymp/amp/explain.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <limits>

namespace tinymp::lab {
namespace {

/// Words from column `used` on; a line that is full goes on below `margin` spaces.
void fit_words(std::string_view line, int used, int margin, int width, std::string& text) {
  for (bool first = true; !line.empty(); first = false) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view spaces = line.substr(0, begin), word = line.substr(begin, end - begin);
    const int needed = report::display_width(spaces) + report::display_width(word);
    if (first || used + needed <= width) {
      text.append(spaces).append(word);
      used += needed;
    } else {
      text.append("\n").append(static_cast<std::size_t>(margin), ' ').append(word);
      used = margin + report::display_width(word);
    }
    line.remove_prefix(end);
  }
}

/// Where the last column of a row begins, behind two spaces or more; 0 where the line is no row.
std::size_t last_column(std::string_view line) {
  line = line.substr(0, line.find_last_not_of(' ') + 1);
  const std::size_t gap = line.rfind("  ");
  return gap == std::string_view::npos || line.find_first_not_of(' ') > gap ? 0 : gap + 2;
}

void fit_line(std::string_view line, int width, std::string& text) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size()), column = last_column(line);
  const auto margin = static_cast<int>(indent);
  text += line.substr(0, indent);
  if (report::display_width(line) <= width || column == 0)
    return fit_words(line.substr(indent), margin, margin, width, text);
  const std::string_view before = line.substr(0, column);
  if (const int used = report::display_width(before); used <= width / 2) {
    text += before.substr(indent);
    return fit_words(line.substr(column), used, used, width, text);
  }
  fit_words(before.substr(indent, before.find_last_not_of(' ') + 1 - indent), margin, margin, width, text);
  text.append("\n").append(indent + 4, ' ');
  fit_words(line.substr(column), margin + 4, margin + 4, width, text);
}

}  // namespace

std::string fitted(std::string_view text, int width) {
  std::string lines;
  for (;;) {
    const std::size_t end = text.find('\n');
    fit_line(text.substr(0, end), width, lines);
    if (end == std::string_view::npos) return lines;
    lines += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string fitted(std::string_view text) { return fitted(text, report::terminal_width(STDOUT_FILENO)); }

std::string printable_lines(std::string_view text) {
  std::string clean;
  for (;;) {
    const std::size_t end = text.find('\n');
    clean += report::printable(text.substr(0, end), true);
    if (end == std::string_view::npos) return clean;
    clean += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string fitted_for_errors(std::string_view text) {
  if (isatty(STDERR_FILENO) != 1) return std::string(text);
  return fitted(text, report::terminal_width(STDERR_FILENO));
}

std::string ops_table(const std::vector<ExplainedOp>& ops, int width) {
  constexpr report::Align left = report::Align::left, right = report::Align::right;
  const bool rounds = std::ranges::any_of(ops, [](const ExplainedOp& op) { return op.rounding.has_value(); });
  const bool scales = std::ranges::any_of(ops, [](const ExplainedOp& op) { return op.scale.has_value(); });
  report::Table table{{}, {left, left, left, left}, {}};
  table.rows.push_back({"op", "in", "out", "sums"});
  // Columns for FP8 alone, so that the table of another recipe has none that is empty.
  const auto add = [&](bool shown, const char* title, report::Align align) {
    if (!shown) return;
    table.rows[0].emplace_back(title);
    table.align.push_back(align);
  };
  add(rounds, "rounding", left);
  add(scales, "scale", right);
  add(true, "shape", left);
  add(true, "bytes", right);
  add(true, "of", left);
  std::int64_t bytes = 0;
  for (const ExplainedOp& op : ops) {
    std::string in;
    for (const DType dtype : op.in) in += concat(in.empty() ? "" : " ", dtype);
    std::vector<std::string> row{op.op, in, concat(op.out), op.sums ? concat(*op.sums) : ""};
    if (rounds) row.emplace_back(op.rounding ? name_of(*op.rounding) : "");
    if (scales) row.push_back(op.scale ? concat(*op.scale) : "");
    row.insert(row.end(), {concat(op.shape), concat(op.bytes), op.names});
    table.rows.push_back(std::move(row));
    bytes += op.bytes;
  }
  std::vector<std::string> sum(table.rows[0].size());
  sum.front() = "all";
  sum[sum.size() - 2] = concat(bytes);
  table.rows.push_back(std::move(sum));
  return report::format_table(table, {.width = width});
}

}  // namespace tinymp::lab
