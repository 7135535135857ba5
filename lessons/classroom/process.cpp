#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/classroom/process.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace tinymp::classroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 64 << 10;
constexpr int input_end = 0, output_end = 1, error_end = 2, verdict_end = 3;

/// A pipe whose ends close themselves.
struct Pipe {
  std::array<int, 2> ends{-1, -1};
  Pipe() { expect(pipe2(ends.data(), O_CLOEXEC) == 0, "cannot make a pipe: ", std::strerror(errno)); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_end(0);
    close_end(1);
  }
  void close_end(std::size_t i) {
    if (ends[i] >= 0) close(ends[i]);
    ends[i] = -1;
  }
};

void limit(int resource, std::int64_t value) {
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

/// In the child. Its own process group, so that all of it can be ended at once.
[[noreturn]] void become(const std::vector<char*>& words, const Limits& limits, const Pipe& input,
                         const Pipe& output, const Pipe& verdict) {
  setpgid(0, 0);
  // A pipe may be file 3 already: moved out of the way first.
  const int verdict_in = fcntl(verdict.ends[1], F_DUPFD, 10);
  dup2(input.ends[0], input_end);
  dup2(output.ends[1], output_end);
  dup2(output.ends[1], error_end);
  dup2(verdict_in, verdict_end);
  close(verdict_in);
  limit(RLIMIT_AS, limits.memory);
  limit(RLIMIT_FSIZE, limits.file);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, 1 + static_cast<std::int64_t>(limits.seconds * 64));  // of all its threads
  execvp(words[0], words.data());
  const std::string why = concat("cannot start ", words[0], ": ", std::strerror(errno), "\n");
  [[maybe_unused]] const ssize_t written = write(error_end, why.data(), why.size());
  _exit(127);
}

/// Appends what can be read now; false at the end.
bool take(int from, std::string& text) {
  std::array<char, 4096> piece{};
  const ssize_t n = read(from, piece.data(), piece.size());
  if (n > 0)
    text.append(piece.data(),
                std::min(static_cast<std::size_t>(n), most_output - std::min(most_output, text.size())));
  return n > 0 || (n < 0 && errno == EINTR);
}

/// Reads both until the child closes them, or its time is over.
void listen(Pipe& output, Pipe& verdict, Clock::time_point until, Finished& finished) {
  std::array<pollfd, 2> open{{{output.ends[0], POLLIN, 0}, {verdict.ends[0], POLLIN, 0}}};
  while (open[0].fd >= 0 || open[1].fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - Clock::now()).count();
    if (left <= 0) {
      finished.out_of_time = true;
      return;
    }
    poll(open.data(), open.size(), static_cast<int>(std::min<std::int64_t>(left, 1000)));
    if (open[0].revents != 0 && !take(open[0].fd, finished.output)) open[0].fd = -1;
    if (open[1].revents != 0 && !take(open[1].fd, finished.verdict)) open[1].fd = -1;
  }
}

}  // namespace

Finished run(const std::vector<std::string>& command, const Limits& limits, const std::string& input) {
  std::vector<std::string> owned = command;
  std::vector<char*> words;
  for (std::string& word : owned) words.push_back(word.data());
  words.push_back(nullptr);
  Pipe in, out, verdict;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(limits.seconds));
  const pid_t child = fork();
  expect(child >= 0, "cannot start ", command[0], ": ", std::strerror(errno));
  if (child == 0) become(words, limits, in, out, verdict);
  setpgid(child, child);
  in.close_end(0);
  out.close_end(1);
  verdict.close_end(1);
  [[maybe_unused]] const ssize_t written =
      write(in.ends[1], input.data(), input.size());  // short: fits the pipe
  in.close_end(1);

  Finished finished;
  listen(out, verdict, until, finished);
  int status = 0;
  // It has closed its ends, but may live on: as long as its time goes.
  while (!finished.out_of_time && waitpid(child, &status, WNOHANG) == 0) {
    if (Clock::now() >= until) finished.out_of_time = true;
    usleep(1000);
  }
  kill(-child, SIGKILL);
  if (finished.out_of_time) waitpid(child, &status, 0);
  if (WIFEXITED(status)) finished.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  return finished;
}

}  // namespace tinymp::classroom
