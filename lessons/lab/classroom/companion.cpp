#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/classroom/sandbox.h>
#include <array>
#include <chrono>
#include <csignal>

namespace tinymp::classroom {

Companion::Companion(std::vector<std::string> command, Link& link) {
  // A larger buffer than a new pipe has means fewer context switches between the two processes. Where the
  // system does not allow it, the check only runs slower.
  for (const lab::Pipe* const pipe : {&link.in, &link.out}) fcntl(pipe->ends[1], F_SETPIPE_SZ, 1 << 20);
  process_ = lab::start({.command = std::move(command),
                         .files = {{1, out_.ends[1]}, {3, link.in.ends[1]}, {4, link.out.ends[0]}}});
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
