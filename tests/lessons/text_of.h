#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace tinymp::test {

/// The whole file; nothing where there is none.
inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace tinymp::test
