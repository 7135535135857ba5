#include <tinymp/train/provenance.h>
#include <array>
#include <ctime>
#include <fstream>

#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif

// build_commit() lives in a file that the build writes (cmake/Commit.cmake), so that
// a commit recompiles nothing else.
namespace tinymp::train {

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return {text.data(), length};
}

std::string compiler_name() {
#if defined(__clang__)
  std::string name = "clang++ " __clang_version__;
#else
  std::string name = "g++ " __VERSION__;
#endif
  while (!name.empty() && name.back() == ' ') name.pop_back();
#if !defined(__OPTIMIZE__)
  name += ", not optimised";
#endif
  return name;
}

std::string processor_name() {
#if defined(__APPLE__)
  std::array<char, 128> brand{};
  std::size_t size = brand.size() - 1;
  if (sysctlbyname("machdep.cpu.brand_string", brand.data(), &size, nullptr, 0) == 0) return brand.data();
#endif
  // Linux on x86 has "model name : AMD EPYC 7B13"; on arm64 the line is missing on most machines.
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const std::size_t colon = line.find(':');
    const std::size_t first = line.find_first_not_of(" \t", colon == std::string::npos ? colon : colon + 1);
    if (first != std::string::npos) return line.substr(first);
  }
  return "cpu";
}

std::string learner_pieces(const std::string& pieces) {
  std::string names;
  for (std::size_t begin = 0; begin < pieces.size();) {
    const std::size_t end = std::min(pieces.find(" | ", begin), pieces.size());
    const std::string piece = pieces.substr(begin, end - begin);
    const std::size_t colon = piece.find(": YOURS");
    if (colon != std::string::npos) names += (names.empty() ? "" : ", ") + piece.substr(0, colon);
    begin = end + 3;
  }
  return names;
}

}  // namespace tinymp::train
