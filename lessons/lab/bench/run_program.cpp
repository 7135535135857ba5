#include <fcntl.h>
#include <signal.h>
#if defined(__linux__)
#include <sys/prctl.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/learn/process.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <thread>

namespace tinymp::lab::gpu_check {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits until `process` ends. False when it has not by `end`; then it is there still.
bool ends_by(pid_t process, Clock::time_point end, Outcome& outcome) {
  for (;;) {
    int status = 0;
    const pid_t ended = waitpid(process, &status, WNOHANG);
    if (ended == process) {
      outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
      outcome.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    }
    if (ended < 0 && errno != EINTR) outcome.code = -1;
    if (ended != 0 && !(ended < 0 && errno == EINTR)) return true;
    if (Clock::now() >= end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

}  // namespace

std::string Outcome::text() const {
  if (timed_out)
    return deadline > 0 ? concat("no end after ", deadline, " s")
                        : "not started: the time of this part is over";
  if (code == -1) return "cannot be started: is it built?";
  return signal > 0 ? concat("ended by signal ", signal) : concat("exit code ", code);
}

double Setting::deadline(double seconds) const {
  const double most = patience * seconds;
  if (!end) return most;
  return std::min(most, std::chrono::duration<double>(*end - Clock::now()).count());
}

Outcome run_program(const std::vector<std::string>& command, double deadline,
                    const std::filesystem::path& log) {
  if (deadline <= 0) return {.timed_out = true};
  Start program{.command = command};
#if defined(__linux__)
  program.prepare = [] {  // what a part has started ends with it, and the GPU is free for the next
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    return static_cast<const char*>(nullptr);
  };
#endif
  const Descriptor output =
      log.empty() ? Descriptor(-1) : Descriptor(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC);
  expect(log.empty() || output.file() >= 0, "cannot write ", log.string(), ": ", std::strerror(errno));
  if (!log.empty()) program.files = {{STDOUT_FILENO, output.file()}, {STDERR_FILENO, output.file()}};
  pid_t process = 0;
  try {
    process = start(program);
  } catch (const Error&) {
    return {.code = -1};
  }
  Outcome outcome{.deadline = deadline};
  const auto after = [](double seconds) {
    return Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  };
  if (ends_by(process, after(deadline), outcome)) return outcome;
  outcome.timed_out = true;
  kill(process, SIGTERM);  // compute-sanitizer then ends the program that it watches
  if (!ends_by(process, after(2), outcome)) {
    kill(process, SIGKILL);
    wait_for(process);
  }
  return outcome;
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
