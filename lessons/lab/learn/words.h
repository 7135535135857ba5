#pragma once

#include <string>
#include <string_view>

/// Texts for people, as they fit the terminal.
namespace tinymp::lab {

/// Each line of the text broken at spaces, so that none takes more than `width` columns. What a line begins
/// with (spaces) its continuations begin with too. Of a row of a table, columns apart by two spaces, the last
/// column goes on below itself; where that has no room, below the row. A word longer than `width`, a path
/// say, stays whole.
std::string fitted(std::string_view text, int width);

/// ... for standard output, as wide as it is now.
std::string fitted(std::string_view text);

/// ... for standard error. Where that is no terminal the text stays as it is: in a log a message is one line.
std::string fitted_for_errors(std::string_view text);

}  // namespace tinymp::lab
