#include <lessons/lab/learn/progress.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <tinymp/train/run_log.h>
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace tinymp::lab {
namespace {

/// Was the last line cut short, as a full disk does?
bool ends_in_midst(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  return in.tellg() > 0 && in.seekg(-1, std::ios::end) && in.get() != '\n';
}

}  // namespace

Progress::Progress(std::string path) : path_(std::move(path)) {
  std::ifstream in(path_);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string part, number, what, when, more;
    if (words >> part >> number >> what >> when && !(words >> more))
      lines_.push_back({part + " " + number, what, when});
  }
}

std::optional<std::string> Progress::first(const std::string& exercise, const std::string& what) const {
  const auto found = std::ranges::find_if(
      lines_, [&](const Line& line) { return line.exercise == exercise && line.what == what; });
  if (found == lines_.end()) return {};
  return found->when;
}

int Progress::count(const std::string& exercise, const std::string& what) const {
  return static_cast<int>(std::ranges::count_if(
      lines_, [&](const Line& line) { return line.exercise == exercise && line.what == what; }));
}

void Progress::add(const std::string& exercise, const std::string& what) {
  const Line line{exercise, what, train::utc_now()};
  const char* const apart = ends_in_midst(path_) ? "\n" : "";
  errno = 0;
  std::ofstream out(path_, std::ios::app);
  out << concat(apart, line.exercise, " ", line.what, " ", line.when, "\n") << std::flush;
  expect(out.good(), train::write_failure("your progress", path_, errno == 0 ? EIO : errno));
  lines_.push_back(line);
}

std::string progress_path() {
  const char* elsewhere = std::getenv("TINYMP_PROGRESS");
  return elsewhere != nullptr && *elsewhere != '\0' ? elsewhere : TINYMP_SOURCE_DIR "/progress.txt";
}

}  // namespace tinymp::lab
