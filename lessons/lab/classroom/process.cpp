#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <lessons/lab/classroom/descendants.h>
#include <lessons/lab/classroom/process.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <thread>

namespace tinymp::classroom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t most_output = 64 << 10;
constexpr int input_end = 0, output_end = 1, error_end = 2, answer_end = 3;

/// A file that closes itself; -1: none.
class Descriptor {
 public:
  explicit Descriptor(int file) : file_(file) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (file_ >= 0) close(file_);
  }
  int file() const { return file_; }

 private:
  int file_;
};

/// All that the child needs, made before the fork: after it there may be no memory to be had.
struct Child {
  Child(const std::vector<std::string>& command, const Limits& given, const Place& where)
      : limits(given),
        place(where),
        checked(where.fence != Fence::none && !where.writes),
        filter(checked && where.fence == Fence::bubblewrap ? refused_system_calls() : -1),
        rules(where.fence == Fence::landlock ? landlock_rules(where) : -1),
        threads(256 + 2 * std::int64_t{std::thread::hardware_concurrency()} +
                threads_of_user(checked && geteuid() == 0 ? user : geteuid())) {
    owned = where.fence == Fence::bubblewrap
                ? bubblewrap_command(where, command, filter.file() < 0 ? -1 : filter_end)
                : command;
    for (std::string& word : owned) words.push_back(word.data());
    words.push_back(nullptr);
    no_start = concat("start ", command[0]);
  }

  static constexpr int filter_end = 9;
  const Limits& limits;
  const Place& place;
  bool checked;  ///< it is the submission itself, not a compiler
  uid_t user = user_of_submissions();
  Descriptor filter, rules;
  std::int64_t threads;
  pid_t parent = getpid();
  std::vector<std::string> owned;
  std::vector<char*> words;
  std::string no_start;  ///< what to say when there is no such program
  std::string temporary = "TMPDIR=" + place.folder.string();
  std::string path = "PATH=/usr/local/bin:/usr/bin:/bin", language = "LC_ALL=C.UTF-8";
  std::array<char*, 4> environment{path.data(), language.data(), temporary.data(), nullptr};
};

void limit(int resource, std::int64_t value) {
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

[[noreturn]] void give_up(const char* what) {
  for (const char* const text :
       {"cannot ", what, ": ", static_cast<const char*>(std::strerror(errno)), "\n"}) {
    [[maybe_unused]] const ssize_t written = write(error_end, text, std::strlen(text));
  }
  _exit(127);
}

void set_limits(const Child& child) {
  limit(RLIMIT_AS, child.limits.memory);
  limit(RLIMIT_FSIZE, child.limits.file);
  limit(RLIMIT_CORE, 0);
  // Should Watch not look in time.
  limit(RLIMIT_CPU, 2 + static_cast<std::int64_t>(child.limits.seconds * 2));
  if (child.place.fence == Fence::none) return;
  limit(RLIMIT_NOFILE, 64);
  limit(RLIMIT_NPROC, child.threads);
}

/// Nothing that this process had open but what stands below `first`.
void close_from(unsigned first) {
  constexpr long close_range = 436;
  if (syscall(close_range, first, ~0u, 0) == 0) return;
  for (int file = static_cast<int>(first); file < 1024; ++file) close(file);
}

void stop_being_root(uid_t user) {
  if (geteuid() != 0) return;
  if (setgroups(0, nullptr) != 0 || setresgid(user, user, user) != 0 || setresuid(user, user, user) != 0)
    give_up("become another user");
}

/// In the child. A session of its own: no terminal, and all of it can be ended at once.
[[noreturn]] void become(const Child& child, const Pipe& input, const Pipe& output, const Pipe& answer) {
  const bool fenced = child.place.fence != Fence::none;
  setsid();
  // A pipe may be one of these files already: moved out of the way first.
  const int answer_in = fcntl(answer.ends[1], F_DUPFD, 20), rules = fcntl(child.rules.file(), F_DUPFD, 20),
            filter = fcntl(child.filter.file(), F_DUPFD, 20);
  dup2(input.ends[0], input_end);
  dup2(output.ends[1], output_end);
  dup2(output.ends[1], error_end);
  dup2(answer_in, answer_end);
  dup2(rules, Child::filter_end - 1);
  if (filter >= 0)
    dup2(filter, Child::filter_end);
  else
    close(Child::filter_end);
  close_from(Child::filter_end + 1);
  for (int file = answer_end + 1; file < Child::filter_end - 1; ++file) close(file);
  if (fenced) {
    umask(022);
    if (chdir(child.place.folder.c_str()) != 0) give_up("enter the folder of the check");
    if (child.checked) stop_being_root(child.user);
  }
  set_limits(child);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != child.parent) _exit(127);
  if (child.place.fence == Fence::landlock && !obey_landlock(Child::filter_end - 1)) give_up("use Landlock");
  close(Child::filter_end - 1);
  const bool by_itself = child.place.fence != Fence::bubblewrap;
  if (child.checked && (by_itself ? !refuse_system_calls() : filter < 0)) give_up("filter system calls");
  if (fenced)
    execvpe(child.words[0], child.words.data(), child.environment.data());
  else
    execvp(child.words[0], child.words.data());
  give_up(child.no_start.c_str());
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

volatile std::sig_atomic_t was_interrupted = 0;

/// Whether it may go on: it has time and memory left, and its result is wanted.
class Watch {
 public:
  /// `others` are no part of it; without a fence only what `child` started is.
  Watch(const Limits& limits, bool fenced, const std::vector<pid_t>& others, pid_t child)
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
    if (!fenced_) its.push_back(child_);  // mutants are judged side by side, and all are our descendants
    std::erase_if(its, [&](pid_t process) { return std::ranges::count(others_, process) != 0; });
    // A program that has ended took its seconds along.
    finished.computed = std::max(finished.computed, seconds_of(its));
    if (fenced_) finished.out_of_memory = memory_of(its) > limits_.memory;
  }

  const Limits& limits_;
  Clock::time_point until_, next_look_ = Clock::now();
  bool fenced_, was_unwanted_ = false;
  const std::vector<pid_t>& others_;
  pid_t child_;
};

/// Reads until the child closes its end, or has to end.
void listen(Pipe& output, Watch& watch, Finished& finished) {
  pollfd open{output.ends[0], POLLIN, 0};
  while (!watch.ends(finished)) {
    poll(&open, 1, 50);
    if (open.revents != 0 && !take(open.fd, finished.output)) return;
  }
}

}  // namespace

Pipe::Pipe() { expect(pipe2(ends.data(), O_CLOEXEC) == 0, "cannot make a pipe: ", std::strerror(errno)); }

Pipe::~Pipe() {
  close_end(0);
  close_end(1);
}

void Pipe::close_end(std::size_t i) {
  if (ends[i] >= 0) close(ends[i]);
  ends[i] = -1;
}

void mind_interrupts() {
  struct sigaction action {};
  action.sa_handler = [](int) { was_interrupted = 1; };  // and no SA_RESTART: poll() returns
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() { return was_interrupted != 0; }

namespace {

Finished run_with(const std::vector<std::string>& command, const Limits& limits, Pipe& in, Pipe& answer,
                  const Place& place) {
  const Child program(command, limits, place);
  Pipe out;
  adopt_orphans();
  const std::vector<pid_t> others = descendants();
  const pid_t child = fork();
  expect(child >= 0, "cannot start ", command[0], ": ", std::strerror(errno));
  if (child == 0) become(program, in, out, answer);
  in.close_end(0);
  out.close_end(1);
  answer.close_end(1);
  in.close_end(1);

  Watch watch(limits, place.fence != Fence::none, others, child);
  Finished finished;
  listen(out, watch, finished);
  int status = 0;
  // It has closed its ends, but may live on: as long as its time goes.
  bool over = false;
  while (!over && !watch.ends(finished)) {
    over = waitpid(child, &status, WNOHANG) == child;
    if (!over) usleep(1000);
  }
  kill(child, SIGKILL);
  if (!over) waitpid(child, &status, 0);
  if (place.fence == Fence::none) {
    kill(-child, SIGKILL);  // one's own code
    while (waitpid(-child, nullptr, 0) > 0) {
    }
  } else {
    end_descendants_but(others);
  }
  expect(!interrupted(), "stopped");
  if (!over && watch.was_unwanted()) throw Unwanted("stopped");
  if (WIFEXITED(status)) finished.code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.signal = WTERMSIG(status);
  if (place.fence == Fence::bubblewrap && finished.code > 128) {  // so it tells of a signal
    finished.signal = finished.code - 128;
    finished.code = -1;
  }
  if (finished.signal == SIGXCPU) finished.out_of_time = true;
  return finished;
}

}  // namespace

Finished run(const std::vector<std::string>& command, const Limits& limits, const Place& place) {
  Link nothing;
  return run_with(command, limits, nothing.in, nothing.out, place);
}

Finished run_linked(const std::vector<std::string>& command, const Limits& limits, Link& link,
                    const Place& place) {
  return run_with(command, limits, link.in, link.out, place);
}

}  // namespace tinymp::classroom
