#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/classroom/process.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace tinymp::classroom {

Companion::Companion(std::vector<std::string> command, Link& link) {
  // Larger than a pipe is at first: fewer changes between the two. Where that is not allowed it is slower.
  for (const Pipe* const pipe : {&link.in, &link.out}) fcntl(pipe->ends[1], F_SETPIPE_SZ, 1 << 20);
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  // As copies out of the way of 1, 3 and 4, which the pipes may be here.
  std::array<int, 3> ends{out_.ends[1], link.in.ends[1], link.out.ends[0]};
  constexpr std::array there{1, 3, 4};
  for (std::size_t i = 0; i < ends.size(); ++i) {
    ends[i] = fcntl(ends[i], F_DUPFD_CLOEXEC, 5);
    posix_spawn_file_actions_adddup2(&files, ends[i], there[i]);
  }
  const int failed = posix_spawn(&process_, words[0], &files, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  for (const int end : ends) close(end);
  expect(failed == 0, "cannot start ", command[0], ": ", std::strerror(failed));
  out_.close_end(1);
  link.in.close_end(1);
  link.out.close_end(0);
}

Companion::~Companion() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

std::string Companion::output(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  std::string text;
  std::array<char, 4096> piece{};
  while (Clock::now() < until && !interrupted()) {
    pollfd open{out_.ends[0], POLLIN, 0};
    if (poll(&open, 1, 50) <= 0) continue;
    const ssize_t n = read(out_.ends[0], piece.data(), piece.size());
    if (n == 0) break;
    if (n > 0) text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace tinymp::classroom
