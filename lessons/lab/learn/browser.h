#pragma once

#include <string>

namespace tinymp::lab {

/// Asks the desktop to show a file; says where it lies when there is none to ask. Does not wait for the
/// browser.
void open_in_browser(const std::string& path);

}  // namespace tinymp::lab
