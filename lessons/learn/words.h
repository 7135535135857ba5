#pragma once

#include <string>
#include <string_view>

/// Texts for people, as they fit the terminal.
namespace tinymp::lab {

/// Each line of the text broken at spaces, so that none takes more than `width` columns. What a line begins
/// with (spaces) its continuations begin with too. A word longer than that, a path say, stays whole.
std::string fitted(std::string_view text, int width);

/// ... for standard output, as wide as it is now.
std::string fitted(std::string_view text);

/// ... for standard error. Where that is no terminal the text stays as it is: in a log a message is one line.
std::string fitted_for_errors(std::string_view text);

}  // namespace tinymp::lab
