#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/siblings.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

extern char** environ;

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

Ended spawned(const Sibling& lesson, std::vector<std::string> arguments, bool silent) {
  arguments.insert(arguments.begin(), lesson.path);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  Ended ended;
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return ended;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipe_ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[0]);
  posix_spawn_file_actions_addclose(&actions, pipe_ends[1]);
  if (silent) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const bool started =
      posix_spawn(&child, lesson.path.c_str(), &actions, nullptr, words.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe_ends[1]);
  std::array<char, 4096> piece{};
  while (started) {
    const ssize_t n = read(pipe_ends[0], piece.data(), piece.size());
    if (n > 0) ended.output.append(piece.data(), static_cast<std::size_t>(n));
    if (n == 0 || (n < 0 && errno != EINTR)) break;  // a signal, SIGWINCH say, is no end
  }
  close(pipe_ends[0]);
  int status = 0;
  pid_t waited = -1;
  while (started && (waited = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  if (started && waited == child && WIFEXITED(status)) ended.code = WEXITSTATUS(status);
  return ended;
}

}  // namespace

Ended run(const Sibling& lesson, std::vector<std::string> arguments) {
  return spawned(lesson, std::move(arguments), false);
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
  std::istringstream lines(spawned(lesson, {"--about"}, true).output);
  About found;
  std::getline(lines, found.name);
  std::getline(lines, found.title);
  std::getline(lines, found.question);
  std::getline(lines, found.sabotage);
  std::getline(lines, found.data);
  return found;
}

}  // namespace tinymp::lab
