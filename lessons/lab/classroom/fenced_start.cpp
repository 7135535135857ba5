#include <grp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <lessons/lab/classroom/descendants.h>
#include <lessons/lab/classroom/fenced_start.h>
#include <csignal>
#include <optional>
#include <thread>

namespace tinymp::classroom {
namespace {

constexpr int answer_file = 3, rules_file = 8, filter_file = 9;

void limit(int resource, std::int64_t value) {
  const rlimit both{static_cast<rlim_t>(value), static_cast<rlim_t>(value)};
  setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

bool stop_being_root(uid_t user) {
  return geteuid() != 0 ||
         (setgroups(0, nullptr) == 0 && setresgid(user, user, user) == 0 && setresuid(user, user, user) == 0);
}

/// Everything that the child needs to put itself behind its fence. It is made before the fork, and prepare()
/// allocates nothing: after the fork there may be no memory left.
class FencedChild {
 public:
  FencedChild(const Limits& limits, const Sandbox& sandbox)
      : limits_(limits),
        sandbox_(sandbox),
        checked_(sandbox.fence != Fence::none && !sandbox.writes),
        filter_(checked_ && sandbox.fence == Fence::bubblewrap ? refused_system_calls() : -1),
        rules_(sandbox.fence == Fence::landlock ? landlock_rules(sandbox) : -1),
        threads_(256 + 2 * std::int64_t{std::thread::hardware_concurrency()} +
                 threads_of_user(checked_ && geteuid() == 0 ? user_ : geteuid())) {}

  std::vector<std::string> command(const std::vector<std::string>& command) const {
    if (sandbox_.fence != Fence::bubblewrap) return command;
    return bubblewrap_command(sandbox_, command, filter_.file() < 0 ? -1 : filter_file);
  }
  std::optional<std::vector<std::string>> environment() const {
    if (sandbox_.fence == Fence::none) return {};
    return std::vector<std::string>{"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                    "TMPDIR=" + sandbox_.folder.string()};
  }
  void add_files(std::vector<std::pair<int, int>>& files) const {
    if (rules_.file() >= 0) files.emplace_back(rules_file, rules_.file());
    if (filter_.file() >= 0) files.emplace_back(filter_file, filter_.file());
  }
  /// Runs in the child. Returns the step that failed; null when all succeeded.
  const char* prepare() const {
    setsid();
    if (sandbox_.fence != Fence::none) {
      umask(022);
      if (chdir(sandbox_.folder.c_str()) != 0) return "enter the folder of the check";
      if (checked_ && !stop_being_root(user_)) return "become another user";
    }
    set_limits();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent_) _exit(127);
    if (sandbox_.fence == Fence::landlock && !obey_landlock(rules_file)) return "use Landlock";
    if (sandbox_.fence == Fence::landlock) close(rules_file);
    const bool filters =
        sandbox_.fence == Fence::bubblewrap ? filter_.file() >= 0 : !checked_ || refuse_system_calls();
    return checked_ && !filters ? "filter system calls" : nullptr;
  }

 private:
  void set_limits() const {
    limit(RLIMIT_AS, limits_.memory);
    limit(RLIMIT_FSIZE, limits_.file);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_CPU,
          2 + static_cast<std::int64_t>(limits_.seconds * 2));  // in case Watchdog does not look in time
    if (sandbox_.fence == Fence::none) return;
    limit(RLIMIT_NOFILE, 64);
    limit(RLIMIT_NPROC, threads_);
  }

  const Limits& limits_;
  const Sandbox& sandbox_;
  bool checked_;  ///< it is the submission itself, not a compiler
  uid_t user_ = user_of_submissions();
  lab::Descriptor filter_, rules_;
  std::int64_t threads_;
  pid_t parent_ = getpid();
};

}  // namespace

pid_t start_fenced(const std::vector<std::string>& command, const Limits& limits, const Sandbox& sandbox,
                   const lab::Pipe& in, const lab::Pipe& out, const lab::Pipe& answer) {
  const FencedChild child(limits, sandbox);
  lab::Start program{.command = child.command(command),
                     .files = {{STDIN_FILENO, in.ends[0]},
                               {STDOUT_FILENO, out.ends[1]},
                               {STDERR_FILENO, out.ends[1]},
                               {answer_file, answer.ends[1]}},
                     .closes_others = true,
                     .environment = child.environment(),
                     .prepare = [&child] { return child.prepare(); }};
  child.add_files(program.files);
  return lab::start(program);
}

}  // namespace tinymp::classroom
