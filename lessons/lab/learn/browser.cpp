#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>

#include <lessons/lab/learn/browser.h>
#include <array>
#include <iostream>

extern char** environ;

namespace tinymp::lab {

void open_in_browser(const std::string& path) {
#if defined(__APPLE__)
  std::string program = "open";
#else
  std::string program = "xdg-open";  // it starts the browser and returns
#endif
  std::string page = path;
  const std::array<char*, 3> arguments = {program.data(), page.data(), nullptr};
  posix_spawn_file_actions_t quiet;
  posix_spawn_file_actions_init(&quiet);
  for (const int stream : {0, 1, 2}) posix_spawn_file_actions_addopen(&quiet, stream, "/dev/null", O_RDWR, 0);
  pid_t child = 0;
  int status = 1;
  const bool started = posix_spawnp(&child, program.c_str(), &quiet, nullptr, arguments.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&quiet);
  if (started) waitpid(child, &status, 0);
  if (status != 0) std::cerr << "No browser could be started; open " << path << " yourself.\n";
}

}  // namespace tinymp::lab
