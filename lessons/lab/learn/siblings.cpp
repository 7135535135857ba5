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

#if defined(__APPLE__)
#include <mach-o/dyld.h>
#endif

extern char** environ;

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

std::vector<Sibling> lesson_programs() {
  constexpr std::string_view prefix = "lesson_";
  std::vector<Sibling> found;
  for (const fs::directory_entry& entry : fs::directory_iterator(own_folder())) {
    const std::string file = entry.path().filename().string();
    if (file.rfind(prefix, 0) != 0) continue;
    const std::string number = lesson_number(file.substr(prefix.size()));
    if (!number.empty()) found.push_back({number, entry.path().string()});
  }
  std::ranges::sort(found, {}, [](const Sibling& lesson) { return std::stoi(lesson.number); });
  return found;
}

Ended run(const Sibling& lesson, std::vector<std::string> arguments) {
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

}  // namespace tinymp::lab
