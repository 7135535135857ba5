#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <filesystem>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#include <array>
#include <climits>
#endif

namespace tinymp::lab {

namespace fs = std::filesystem;

fs::path chapters_folder() { return TINYMP_SOURCE_DIR "/lessons"; }

fs::path own_folder() {
#if defined(__APPLE__)
  std::array<char, PATH_MAX> path{};
  std::uint32_t size = path.size();
  if (_NSGetExecutablePath(path.data(), &size) == 0) return fs::canonical(path.data()).parent_path();
#endif
  std::error_code failed;
  const fs::path self = fs::read_symlink("/proc/self/exe", failed);
  expect(!failed, "cannot find the folder of this program: ", failed.message(), "; is /proc mounted?");
  return self.parent_path();
}

std::vector<LessonProgram> lesson_programs() {
  constexpr std::string_view prefix = "lesson_";
  std::vector<LessonProgram> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(own_folder())) {
    const std::string file = entry.path().filename().string();
    if (file.rfind(prefix, 0) != 0) continue;
    const std::string number = lesson_number(file.substr(prefix.size()));
    if (!number.empty()) found.push_back({number, entry.path().string()});
  }
  std::ranges::sort(found, {}, [](const LessonProgram& lesson) { return std::stoi(lesson.number); });
  return found;
}

Ended run(const LessonProgram& lesson, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), lesson.path);
  return run(arguments);
}

}  // namespace tinymp::lab
