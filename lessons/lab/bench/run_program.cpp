#include <fcntl.h>
#include <unistd.h>

#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/learn/process.h>
#include <tinymp/base/error.h>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace tinymp::lab::gpu_check {

int run_program(const std::vector<std::string>& command, const std::filesystem::path& log) {
  Start program{.command = command};
  const Descriptor output =
      log.empty() ? Descriptor(-1) : Descriptor(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  expect(log.empty() || output.file() >= 0, "cannot write ", log.string(), ": ", std::strerror(errno));
  if (!log.empty()) program.files = {{STDOUT_FILENO, output.file()}, {STDERR_FILENO, output.file()}};
  try {
    return wait_for(start(program));
  } catch (const Error&) {
    return -1;
  }
}

std::string last_line_of(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::string last;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) last = line;
  }
  return last;
}

}  // namespace tinymp::lab::gpu_check
