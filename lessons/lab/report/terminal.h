#pragma once

#include <string>
#include <string_view>
#include <vector>

/// What a terminal can show, and how wide a text is on it.
namespace tinymp::report {

struct TerminalStyle {
  bool unicode = true;  ///< false: ASCII only
  bool colour = false;  ///< escape sequences for colour
  int width = 80;       ///< columns
};

/// The style for a file descriptor. `plain` (a --plain flag) asks for ASCII without colour.
/// Unicode when the locale says UTF-8 (LC_ALL, LC_CTYPE, LANG); colour only on a terminal that is not "dumb",
/// and not when NO_COLOR is set (https://no-color.org). A file or pipe counts as 80 columns wide.
TerminalStyle terminal_style(int fd, bool plain = false);

/// Columns of `fd` now (it may have been resized); 80 when it is no terminal.
int terminal_width(int fd);

int terminal_height(int fd);  ///< rows, likewise; 24 when it is no terminal

/// Columns that a UTF-8 text takes: 0 for combining marks, 2 for wide characters (East Asian, emoji).
int display_width(std::string_view text);

/// The text as it may be sent to a terminal: control characters become "?" (a name read from a file must not
/// move the cursor), and without Unicode so does what ASCII has no stand-in for.
std::string printable(std::string_view text, bool unicode);

/// The text in lines of at most `width` columns, broken at spaces; a longer word is cut, behind a /, - or _ where
/// it has one. Never empty.
std::vector<std::string> wrap(std::string_view text, int width);

/// Columns of the longest part that wrap() keeps together where it can.
int longest_piece(std::string_view text);

/// At most `width` columns: a longer text ends in "…" (or "~" without Unicode).
std::string shorten(std::string_view text, int width, bool unicode);

enum class Align { left, right };
std::string pad(std::string text, int width, Align align = Align::left);

/// The text in the colour of curve `index` (Okabe and Ito's palette, safe for the colour-blind), or as it is.
std::string paint(std::string_view text, std::size_t index, const TerminalStyle& style);
std::string bold(std::string_view text, const TerminalStyle& style);
std::string faint(std::string_view text, const TerminalStyle& style);

}  // namespace tinymp::report
