#pragma once

#include <string_view>

/// The charting library dygraphs (https://dygraphs.com, MIT licence), put into the program by the build
/// (cmake/EmbedFile.cmake). Both are empty when it was not found; pages then hold still charts.
namespace tinymp::report {

std::string_view dygraphs_js();
std::string_view dygraphs_css();

}  // namespace tinymp::report
