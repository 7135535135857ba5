#pragma once

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

/// Runs one test of this very program again in a process of its own: for settings that are read once from the
/// environment.
namespace tinymp::test {

struct ChildResult {
  int status = -1;  ///< 0: the test passed
  std::string output;
  /// What stands behind `label` on a line of its own; "(none)" when there is no such line.
  std::string line(const std::string& label) const {
    const std::size_t at = output.find(label);
    if (at == std::string::npos) return "(none)";
    const std::size_t begin = at + label.size();
    return output.substr(begin, output.find('\n', begin) - begin);
  }
};

inline std::string this_program() {
#if defined(__APPLE__)
  std::array<char, 4096> path{};
  auto size = static_cast<std::uint32_t>(path.size());
  return _NSGetExecutablePath(path.data(), &size) == 0 ? path.data() : "";
#else
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).string();
#endif
}

/// `settings`: "TINYMP_ISA=avx2". Empty when this system does not say where the program lies.
inline std::optional<ChildResult> run_again(const std::string& settings, const std::string& test) {
  const std::string program = this_program();
  if (program.empty()) return std::nullopt;
  std::string name;
  for (const char c : test)
    name += c == ',' || c == '[' ? std::string("\\") + c : std::string(1, c);    // Catch's syntax
  const auto quoted = [](const std::string& text) { return "'" + text + "'"; };  // no name here holds a quote
  const std::string command = "env " + settings + " " + quoted(program) + " " + quoted(name) + " 2>&1";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  ChildResult result;
  std::array<char, 512> piece{};
  while (std::fgets(piece.data(), static_cast<int>(piece.size()), pipe) != nullptr)
    result.output += piece.data();
  result.status = pclose(pipe);
  return result;
}

}  // namespace tinymp::test
