#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/classroom/descendants.h>
#include <lessons/lab/classroom/fenced_start.h>
#include <lessons/lab/classroom/sandbox.h>
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

/// Appends the bytes that can be read now, up to most_output in all. Returns false at the end.
bool take(int from, std::string& text) {
  std::array<char, 4096> piece{};
  const ssize_t n = read(from, piece.data(), piece.size());
  if (n > 0)
    text.append(piece.data(),
                std::min(static_cast<std::size_t>(n), most_output - std::min(most_output, text.size())));
  return n > 0 || (n < 0 && errno == EINTR);
}

volatile std::sig_atomic_t was_interrupted = 0;

/// Decides whether the program may go on: it has time and memory left, and its result is wanted.
class Watchdog {
 public:
  /// Leaves out the processes `others`. Without a fence it counts only `child` and its descendants.
  Watchdog(const Limits& limits, bool fenced, const std::vector<pid_t>& others, pid_t child)
      : limits_(limits),
        until_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(limits.by_the_clock))),
        fenced_(fenced),
        others_(others),
        child_(child) {}

  bool ends(Finished& finished) {
    const auto now = Clock::now();
    if (now >= next_look_) {
      look(finished);
      next_look_ = now + std::chrono::milliseconds(100);
    }
    finished.out_of_time = now >= until_ || finished.computed >= limits_.seconds;
    was_unwanted_ = was_unwanted_ || (limits_.unwanted && limits_.unwanted());
    return finished.out_of_time || finished.out_of_memory || interrupted() || was_unwanted_;
  }
  bool was_unwanted() const { return was_unwanted_; }

 private:
  void look(Finished& finished) const {
    std::vector<pid_t> its = descendants(fenced_ ? getpid() : child_);
    if (!fenced_) its.push_back(child_);  // several checks may run side by side: all are our descendants
    std::erase_if(its, [&](pid_t process) { return std::ranges::count(others_, process) != 0; });
    // The seconds of a process vanish when it ends, so the largest sum counts.
    finished.computed = std::max(finished.computed, seconds_of(its));
    if (fenced_) finished.out_of_memory = memory_of(its) > limits_.memory;
  }

  const Limits& limits_;
  Clock::time_point until_, next_look_ = Clock::now();
  bool fenced_, was_unwanted_ = false;
  const std::vector<pid_t>& others_;
  pid_t child_;
};

/// Reads until the child closes its end, or the watchdog ends it.
void listen(lab::Pipe& output, Watchdog& watchdog, Finished& finished) {
  pollfd open{output.ends[0], POLLIN, 0};
  while (!watchdog.ends(finished)) {
    poll(&open, 1, 50);
    if (open.revents != 0 && !take(open.fd, finished.output)) return;
  }
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = [](int) { was_interrupted = 1; };  // without SA_RESTART, poll() returns
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return was_interrupted != 0; }

namespace {

/// Returns -1 when it could not be started; `finished` then says why, with the code of a shell.
pid_t start(const std::vector<std::string>& command, const Limits& limits, const Sandbox& sandbox,
            const lab::Pipe& in, const lab::Pipe& out, const lab::Pipe& answer, Finished& finished) {
  try {
    return start_fenced(command, limits, sandbox, in, out, answer);
  } catch (const lab::CannotStart& error) {
    constexpr int cannot_start = 127;
    finished.code = cannot_start;
    finished.output = concat(error.what(), "\n");
    return -1;
  }
}

Finished run_with(const std::vector<std::string>& command, const Limits& limits, lab::Pipe& in,
                  lab::Pipe& answer, const Sandbox& sandbox) {
  lab::Pipe out;
  adopt_orphans();
  const std::vector<pid_t> others = descendants();
  Finished finished;
  const pid_t child = start(command, limits, sandbox, in, out, answer, finished);
  in.close_end(0);
  out.close_end(1);
  answer.close_end(1);
  in.close_end(1);
  if (child < 0) return finished;

  Watchdog watchdog(limits, sandbox.fence != Fence::none, others, child);
  listen(out, watchdog, finished);
  int status = 0;
  // The child has closed its output, but may live on until its time ends.
  bool over = false;
  while (!over && !watchdog.ends(finished)) {
    over = waitpid(child, &status, WNOHANG) == child;
    if (!over) usleep(1000);
  }
  kill(child, SIGKILL);
  if (!over) waitpid(child, &status, 0);
  if (sandbox.fence == Fence::none) {
    kill(-child, SIGKILL);  // the learner's own code
    while (waitpid(-child, nullptr, 0) > 0) {
    }
  } else {
    end_descendants_but(others);
  }
  expect(!interrupted(), "stopped");
  if (!over && watchdog.was_unwanted()) throw Unwanted("stopped");
  if (WIFEXITED(status)) finished.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  if (sandbox.fence == Fence::bubblewrap && finished.code > 128) {  // bubblewrap reports a signal so
    finished.signal = finished.code - 128;
    finished.code = -1;
  }
  if (finished.signal == SIGXCPU) finished.out_of_time = true;
  return finished;
}

}  // namespace

Finished run(const std::vector<std::string>& command, const Limits& limits, const Sandbox& sandbox) {
  Link nothing;
  return run_with(command, limits, nothing.in, nothing.out, sandbox);
}

Finished run_linked(const std::vector<std::string>& command, const Limits& limits, Link& link,
                    const Sandbox& sandbox) {
  return run_with(command, limits, link.in, link.out, sandbox);
}

}  // namespace tinymp::classroom
