#include <lessons/lab/classroom/affected_sources.h>
#include <lessons/lab/classroom/files.h>
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>

namespace tinymp::classroom {
namespace {

namespace fs = std::filesystem;

bool is_source(const fs::path& path) {
  constexpr std::array sources{".cpp", ".cu", ".cuh"};
  return std::ranges::find(sources, path.extension()) != sources.end();
}

bool may_include(const fs::path& path) {
  return is_source(path) || path.extension() == ".h" || path.extension() == ".inc";
}

/// The path in an #include line: `tinymp/base/error.h` of #include <tinymp/base/error.h>; empty for another
/// line.
std::string included_by(const std::string& line) {
  const std::size_t hash = line.find('#'), word = line.find("include", hash);
  if (hash == std::string::npos || word == std::string::npos) return "";
  if (line.find_first_not_of(" \t", hash + 1) != word) return "";
  const std::size_t begin = line.find_first_of("<\"", word), end = line.find_first_of(">\"", begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return line.substr(begin + 1, end - begin - 1);
}

/// Maps each included file to the files that include it.
std::map<std::string, std::vector<std::string>> includers(const fs::path& root) {
  std::map<std::string, std::vector<std::string>> found;
  for (const char* const top : {"tinymp", "kernels", "lessons"})
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / top)) {
      if (!entry.is_regular_file() || !may_include(entry.path())) continue;
      std::istringstream text(read_file(entry.path()));
      for (std::string line; std::getline(text, line);)
        if (const std::string file = included_by(line); !file.empty())
          found[file].push_back(entry.path().lexically_relative(root).generic_string());
    }
  return found;
}

}  // namespace

std::vector<std::string> affected_sources(const fs::path& root, const std::vector<std::string>& changed) {
  const std::map<std::string, std::vector<std::string>> including = includers(root);
  std::set<std::string> touched;
  std::vector<std::string> waiting = changed;
  while (!waiting.empty()) {
    const std::string file = waiting.back();
    waiting.pop_back();
    if (!touched.insert(file).second) continue;
    if (const auto found = including.find(file); found != including.end())
      waiting.insert(waiting.end(), found->second.begin(), found->second.end());
  }
  std::erase_if(touched, [](const std::string& file) { return !is_source(file); });
  return {touched.begin(), touched.end()};
}

}  // namespace tinymp::classroom
