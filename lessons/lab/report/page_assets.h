#pragma once

#include <string_view>

/// Files that the build puts into the program (cmake/EmbedFile.cmake).
namespace tinymp::report {

std::string_view page_css();
std::string_view page_js();

}  // namespace tinymp::report
