#include <unistd.h>

#include <lessons/learn/words.h>
#include <tinymp/report/terminal.h>
#include <algorithm>

namespace tinymp::lab {
namespace {

void fit_line(std::string_view line, int width, std::string& text) {
  const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string margin(line.substr(0, indent));
  text += margin;
  line.remove_prefix(indent);
  int used = static_cast<int>(indent);
  for (bool first = true; !line.empty(); first = false) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', begin), line.size());
    const std::string_view spaces = line.substr(0, begin), word = line.substr(begin, end - begin);
    const int needed = report::display_width(spaces) + report::display_width(word);
    if (first || used + needed <= width) {
      text.append(spaces).append(word);
      used += needed;
    } else {
      text.append("\n").append(margin).append(word);
      used = static_cast<int>(indent) + report::display_width(word);
    }
    line.remove_prefix(end);
  }
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

std::string fitted_for_errors(std::string_view text) {
  if (isatty(STDERR_FILENO) != 1) return std::string(text);
  return fitted(text, report::terminal_width(STDERR_FILENO));
}

}  // namespace tinymp::lab
