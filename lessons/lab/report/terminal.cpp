#include <sys/ioctl.h>
#include <unistd.h>

#include <lessons/lab/report/terminal.h>
#include <lessons/lab/report/utf8.h>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace tinymp::report {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// The first of these that is not empty decides, as in setlocale(3).
bool locale_is_utf8() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value(environment(name));
    if (value.empty()) continue;
    for (char& c : value) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

struct Range {
  char32_t first, last;
};

template <std::size_t N>
bool in_any(char32_t c, const std::array<Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(), [c](Range r) { return c >= r.first && c <= r.last; });
}

/// The blocks of Unicode 15 that matter in names and numbers; wcwidth() would depend on the locale.
int width_of(char32_t c) {
  constexpr std::array zero = {Range{0x0300, 0x036F}, Range{0x1AB0, 0x1AFF}, Range{0x1DC0, 0x1DFF},
                               Range{0x200B, 0x200F}, Range{0x20D0, 0x20FF}, Range{0xFE00, 0xFE0F},
                               Range{0xFE20, 0xFE2F}};
  constexpr std::array wide = {Range{0x1100, 0x115F},   Range{0x2E80, 0x303E},   Range{0x3041, 0xA4CF},
                               Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
                               Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
                               Range{0x1F300, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F900, 0x1F9FF},
                               Range{0x20000, 0x3FFFD}};
  if (in_any(c, zero)) return 0;
  return in_any(c, wide) ? 2 : 1;
}

const char* ascii_for(char32_t c) {
  constexpr std::array<std::pair<char32_t, const char*>, 12> table = {{{0x00A0, " "},
                                                                       {0x00B1, "+-"},
                                                                       {0x00B2, "^2"},
                                                                       {0x00B7, "."},
                                                                       {0x00D7, "x"},
                                                                       {0x2013, "-"},
                                                                       {0x2014, "-"},
                                                                       {0x2018, "'"},
                                                                       {0x2019, "'"},
                                                                       {0x2026, "..."},
                                                                       {0x2192, "->"},
                                                                       {0x2212, "-"}}};
  for (const auto& [code_point, text] : table) {
    if (code_point == c) return text;
  }
  return "?";
}

std::string coloured(std::string_view text, const char* code, const TerminalStyle& style) {
  if (!style.colour || text.empty() || *code == '\0') return std::string(text);
  return std::string("\x1b[") + code + "m" + std::string(text) + "\x1b[0m";
}

bool may_break_behind(char c) { return c == '/' || c == '-' || c == '_'; }

/// As much of a word longer than a line as fits: at least one character, to the last place where it may break.
std::string_view beginning_of_long_word(std::string_view text, int width) {
  std::size_t end = 0, broken = 0;
  int used = 0;
  do {
    const CodePoint c = first_code_point(text.substr(end));
    used += width_of(c.value);
    end += c.bytes;
    if (c.bytes == 1 && may_break_behind(text[end - 1])) broken = end;
  } while (end < text.size() && text[end] != ' ' &&
           used + width_of(first_code_point(text.substr(end)).value) <= width);
  const bool fits = end == text.size() || text[end] == ' ';
  return text.substr(0, fits || broken == 0 ? end : broken);
}

}  // namespace

TerminalStyle terminal_style(int fd, bool plain) {
  const bool is_terminal = isatty(fd) == 1;
  const bool colour = is_terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  return {.unicode = !plain && locale_is_utf8(), .colour = !plain && colour, .width = terminal_width(fd)};
}

int terminal_width(int fd) {
  winsize size{};
  const bool known = isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

int terminal_height(int fd) {
  winsize size{};
  const bool known = isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0;
  return known ? size.ws_row : 24;
}

int display_width(std::string_view text) {
  int width = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    width += width_of(c.value);
    text.remove_prefix(c.bytes);
  }
  return width;
}

std::string printable(std::string_view text, bool unicode) {
  // C0 and C1 controls, line and paragraph separators, direction overrides.
  constexpr std::array unsafe = {Range{0x00, 0x1F}, Range{0x7F, 0x9F}, Range{0x2028, 0x202E},
                                 Range{0x2066, 0x2069}};
  std::string clean;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const bool control = in_any(c.value, unsafe);
    if (control || !c.valid) {
      clean += '?';
    } else if (c.value < 0x80 || unicode) {
      clean += text.substr(0, c.bytes);
    } else {
      clean += ascii_for(c.value);
    }
    text.remove_prefix(c.bytes);
  }
  return clean;
}

int longest_piece(std::string_view text) {
  int longest = 0;
  while (!text.empty()) {
    std::size_t end = 0;
    while (end < text.size() && text[end] != ' ' && !may_break_behind(text[end])) ++end;
    const std::size_t taken = std::min(end + 1, text.size());
    longest =
        std::max(longest, display_width(text.substr(0, end < text.size() && text[end] == ' ' ? end : taken)));
    text.remove_prefix(taken);
  }
  return longest;
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  int used = 0;
  while (!text.empty()) {
    // The next word with the spaces before it, no farther than until it is too long.
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    std::size_t end = 0;
    int needed = 0;
    while (end < text.size() && (end < begin || text[end] != ' ') && used + needed <= width) {
      const CodePoint c = first_code_point(text.substr(end));
      needed += width_of(c.value);
      end += c.bytes;
    }
    if (used + needed <= width) {
      lines.back() += text.substr(0, end);
      used += needed;
      text.remove_prefix(end);
      continue;
    }
    text.remove_prefix(begin);
    if (used > 0) {
      lines.emplace_back();
      used = 0;
    } else {
      const std::string_view piece = beginning_of_long_word(text, width);
      lines.back() += piece;
      used = display_width(piece);
      text.remove_prefix(piece.size());
    }
  }
  return lines;
}

std::string shorten(std::string_view text, int width, bool unicode) {
  if (display_width(text) <= width) return std::string(text);
  std::string kept;
  int used = 0;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    used += width_of(c.value);
    if (used > width - 1) break;
    kept += text.substr(0, c.bytes);
    text.remove_prefix(c.bytes);
  }
  return width < 1 ? "" : kept + (unicode ? "…" : "~");
}

std::string pad(std::string text, int width, Align align) {
  const int missing = width - display_width(text);
  if (missing <= 0) return text;
  const std::string spaces(static_cast<std::size_t>(missing), ' ');
  return align == Align::left ? std::move(text) + spaces : spaces + std::move(text);
}

std::string paint(std::string_view text, std::size_t index, const TerminalStyle& style) {
  // Okabe and Ito (2008), nearest entries of the 256-colour cube; the first curve keeps the text's own
  // colour.
  constexpr std::array<const char*, 7> codes = {"",         "38;5;166", "38;5;74", "38;5;36",
                                                "38;5;175", "38;5;214", "38;5;32"};
  return coloured(text, codes[index % codes.size()], style);
}

std::string bold(std::string_view text, const TerminalStyle& style) { return coloured(text, "1", style); }
std::string faint(std::string_view text, const TerminalStyle& style) { return coloured(text, "2", style); }

}  // namespace tinymp::report
