#pragma once

#include <string_view>

/// Files that the build puts into the program (cmake/EmbedFile.cmake).
namespace tinymp::report {

std::string_view page_css();
std::string_view page_js();

/// The charting library dygraphs (https://dygraphs.com, MIT licence). Both are empty when the build did not
/// find it; pages then show the terminal's charts.
std::string_view dygraphs_js();
std::string_view dygraphs_css();

}  // namespace tinymp::report
