#pragma once

#include <sys/wait.h>

#include <tests/catch.h>
#include <tests/data/files.h>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

/// Python and its packages as oracles.
namespace tinymp::test {

inline std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Runs a program with arguments that need no quotes. Returns what it prints, or nothing when it failed.
inline std::optional<std::string> python(const std::string& program,
                                         const std::vector<std::string>& arguments = {}) {
  const files::Folder folder;
  std::ofstream(folder / "program.py") << program;
  std::string command = "python3 " + (folder / "program.py");
  for (const std::string& a : arguments) command += " " + a;
  command += " > " + (folder / "out") + " 2> " + (folder / "errors");
  const int status = std::system(command.c_str());
  UNSCOPED_INFO(text_of(folder / "errors"));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
  return text_of(folder / "out");
}

}  // namespace tinymp::test
