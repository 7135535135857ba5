#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/siblings.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#include <array>
#include <climits>
#endif

namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;

void sort_by_number(std::vector<Sibling>& lessons) {
  std::ranges::sort(
      lessons, [](const Sibling& a, const Sibling& b) { return std::stoi(a.number) < std::stoi(b.number); });
}

}  // namespace

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

std::vector<Sibling> lesson_programs() {
  constexpr std::string_view prefix = "lesson_";
  std::vector<Sibling> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(own_folder())) {
    const std::string file = entry.path().filename().string();
    if (file.rfind(prefix, 0) != 0) continue;
    const std::string number = lesson_number(file.substr(prefix.size()));
    if (!number.empty()) found.push_back({number, entry.path().string()});
  }
  sort_by_number(found);
  return found;
}

namespace {

/// lessons/NN_name
std::vector<fs::path> chapters() {
  std::vector<fs::path> folders;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(chapters_folder(), failed)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > 3 && name[2] == '_' && !lesson_number(name.substr(0, 2)).empty())
      folders.push_back(entry.path());
  }
  return folders;
}

/// "# Lesson 03 - Accumulation: ..." begins a chapter.
About about_chapter(const std::string& number) {
  About found;
  for (const fs::path& folder : chapters()) {
    if (lesson_number(folder.filename().string().substr(0, 2)) != number) continue;
    std::ifstream chapter(folder / "README.md");
    std::getline(chapter, found.title);
    const std::size_t dash = found.title.find(" - ");
    if (dash != std::string::npos) found.title.erase(0, dash + 3);
    found.name = folder.filename().string();
  }
  return found;
}

}  // namespace

Ended run(const Sibling& lesson, std::vector<std::string> arguments, Messages messages) {
  arguments.insert(arguments.begin(), lesson.path);
  return run(arguments, messages);
}

std::vector<Sibling> lessons_of_course() {
  std::vector<Sibling> all = lesson_programs();
  for (const fs::path& folder : chapters()) {
    const std::string number = lesson_number(folder.filename().string().substr(0, 2));
    if (std::ranges::find(all, number, &Sibling::number) == all.end()) all.push_back({number, ""});
  }
  sort_by_number(all);
  return all;
}

About about(const Sibling& lesson) {
  if (lesson.path.empty()) return about_chapter(lesson.number);
  std::istringstream lines(run(lesson, {"--about"}, Messages::hidden).output);
  About found;
  std::getline(lines, found.name);
  std::getline(lines, found.title);
  std::getline(lines, found.question);
  std::getline(lines, found.sabotage);
  std::getline(lines, found.data);
  return found;
}

}  // namespace tinymp::lab
