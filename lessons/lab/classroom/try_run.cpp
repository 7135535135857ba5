#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/classroom/plain_name.h>
#include <lessons/lab/classroom/sandbox.h>
#include <lessons/lab/classroom/try_run.h>
#include <lessons/lab/report/html.h>
#include <tinymp/base/error.h>
#include <tinymp/train/run_log.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>

namespace tinymp::classroom {
namespace {

using Clock = std::chrono::steady_clock;

/// Runs in the child. The child gets a smaller stack than its parent, so that the parent can read what the
/// child can.
void limit_this_process(double seconds) {
  // A handler of the parent would report the child's crash as if it were the parent's.
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) std::signal(signal, SIG_DFL);
  std::ifstream file("/proc/self/statm");
  rlim_t pages = 0;
  file >> pages;
  const rlim_t memory = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + (rlim_t{1} << 30);
  const rlimit space{memory, memory},
      processor{static_cast<rlim_t>(seconds) + 1, static_cast<rlim_t>(seconds) + 1}, none{0, 0},
      stack{rlim_t{4} << 20, rlim_t{4} << 20};
  setrlimit(RLIMIT_AS, &space);
  setrlimit(RLIMIT_CPU, &processor);
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_STACK, &stack);
}

[[noreturn]] void read_and_draw(const std::filesystem::path& path, double seconds, int answer) {
  limit_this_process(seconds);
  std::string why;
  try {
    std::vector<train::Run> runs;
    runs.push_back(train::load_run(path.string()));
    report::html_report("", report::sections_by_question(std::move(runs)));
  } catch (const std::bad_alloc&) {
    why = "it takes more memory than a run may";
  } catch (const std::exception& error) {
    why = plain_line(error.what(), 300);
  }
  [[maybe_unused]] const ssize_t written = write(answer, why.data(), why.size());
  _exit(why.empty() ? 0 : 1);
}

/// The text that the child writes until it ends, `until` passes or Ctrl-C is pressed.
std::string read_answer(int from, Clock::time_point until) {
  std::string text;
  std::array<char, 512> piece{};
  while (Clock::now() < until && !interrupted()) {
    pollfd ready{from, POLLIN, 0};
    if (poll(&ready, 1, 50) <= 0) continue;
    const ssize_t n = read(from, piece.data(), piece.size());
    if (n <= 0) break;
    text.append(piece.data(), static_cast<std::size_t>(n));
  }
  return text;
}

}  // namespace

std::string why_unreadable(const std::filesystem::path& path, double seconds) {
  int ends[2];
  expect(pipe(ends) == 0, "cannot make a pipe: ", std::strerror(errno));
  const auto until =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  const pid_t child = fork();
  if (child == 0) read_and_draw(path, seconds, ends[1]);
  close(ends[1]);
  std::string why = child < 0 ? "it cannot be tried" : read_answer(ends[0], until);
  close(ends[0]);
  const bool out_of_time = Clock::now() >= until;
  int status = 0;
  if (child > 0) {
    if (out_of_time || interrupted()) kill(child, SIGKILL);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
  }
  expect(!interrupted(), "stopped");
  if (out_of_time) return concat("it takes more than ", seconds, " s");
  if (WIFSIGNALED(status)) return concat("reading it ends in: ", strsignal(WTERMSIG(status)));
  return why;
}

}  // namespace tinymp::classroom
