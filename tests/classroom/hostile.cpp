#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

// What a submission might try, for sandbox_test.cpp. usage: classroom_hostile WHAT VICTIM
// Exit code 0 tells that it succeeded, where that can be told.
namespace {

bool damages(const std::string& victim) {
  bool done = std::remove(victim.c_str()) == 0 || std::rename(victim.c_str(), "stolen") == 0;
  done |= truncate(victim.c_str(), 0) == 0 || chmod(victim.c_str(), 0) == 0;
  done |= utimes(victim.c_str(), nullptr) == 0;
  done |= open(victim.c_str(), O_WRONLY | O_APPEND) >= 0;
  const std::string folder = victim.substr(0, victim.rfind('/'));
  for (const std::string& path :
       {folder + "/new", std::string("/tmp/tinymp-hostile"), std::string("/var/tmp/tinymp-hostile"),
        std::string("/dev/shm/tinymp-hostile")})
    done |= open(path.c_str(), O_WRONLY | O_CREAT, 0600) >= 0 || mkdir((path + "-folder").c_str(), 0700) == 0;
  return done;
}

bool fills_disk() {
  const std::string block(1 << 20, 'x');
  for (int i = 0; i < 1000; ++i) {
    const int file = open(("fill" + std::to_string(i)).c_str(), O_WRONLY | O_CREAT, 0600);
    if (file < 0) return i > 0;
    while (write(file, block.data(), block.size()) > 0) {
    }
  }
  return true;
}

/// So that it is really there.
void touch(volatile char* memory, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += 4096) memory[i] = 1;
}

void takes_memory() {
  for (;;) {
    char* const more = static_cast<char*>(std::malloc(64 << 20));
    if (more == nullptr) std::abort();
    touch(more, 64 << 20);
  }
}

/// Reaches for another process, harmlessly: with what it has already, or signal 0.
std::string reaches(pid_t other) {
  std::string done;
  const auto note = [&](const char* what, bool worked) { done += worked ? std::string(what) + " " : ""; };
  rlimit files{};
  getrlimit(RLIMIT_FSIZE, &files);
  const rlimit nothing{1 << 20, 1 << 20};
  siginfo_t about{};
  about.si_code = -1;
  sched_param normal{};
  cpu_set_t processors;
  CPU_ZERO(&processors);
  CPU_SET(0, &processors);
  note("prlimit", syscall(SYS_prlimit64, other, RLIMIT_CORE, &nothing, nullptr) == 0);
  note("tgkill", syscall(SYS_tgkill, other, other, 0) == 0);
  note("tkill", syscall(SYS_tkill, other, 0) == 0);
  note("sigqueueinfo", syscall(SYS_rt_sigqueueinfo, other, 0, &about) == 0);
  note("tgsigqueueinfo", syscall(SYS_rt_tgsigqueueinfo, other, other, 0, &about) == 0);
  note("setpriority", setpriority(PRIO_PROCESS, static_cast<id_t>(other), 0) == 0);
  note("ioprio", syscall(SYS_ioprio_set, 1, other, 2 << 13 | 4) == 0);
  note("affinity", sched_setaffinity(other, sizeof processors, &processors) == 0);
  note("scheduler", sched_setscheduler(other, SCHED_OTHER, &normal) == 0);
  note("setparam", sched_setparam(other, &normal) == 0);
  int ends[2];
  if (pipe(ends) == 0) note("setown", fcntl(ends[0], F_SETOWN, other) == 0);
  return done;
}

/// A user namespace of its own, in which it would be root.
std::string becomes_root_of_its_own() {
  std::string done;
  const long child = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, nullptr, nullptr, nullptr, nullptr);
  if (child == 0) _exit(0);
  if (child > 0) done += "clone ";
  std::uint64_t wish[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD, 0, 0, 0};
  const long other = syscall(435, wish, sizeof wish);
  if (other == 0) _exit(0);
  if (other > 0 || errno != ENOSYS) done += "clone3 ";
  if (unshare(CLONE_NEWUSER) == 0) done += "unshare ";
  return done;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "", victim = argc > 2 ? argv[2] : "";
  if (what == "loops")
    for (volatile int go = 1; go != 0;) {
    }
  if (what == "forks")
    for (;;) fork();
  if (what == "hides") {  // a grandchild in a session of its own, deaf to what can be ignored
    if (fork() == 0) {
      setsid();
      if (fork() != 0) _exit(0);
      for (int signal = 1; signal < 32; ++signal) std::signal(signal, SIG_IGN);
      prctl(PR_SET_PDEATHSIG, 0);
      for (;;) pause();
    }
    usleep(100000);
    return 0;
  }
  if (what == "memory") takes_memory();
  if (what == "memory of many") {
    for (int i = 0; i < 3; ++i) fork();
    touch(static_cast<char*>(std::malloc(80 << 20)), 80 << 20);
    for (;;) pause();
  }
  if (what == "disk") return fills_disk() ? 0 : 1;
  if (what == "damage") return damages(victim) ? 0 : 1;
  if (what == "reads") return open(victim.c_str(), O_RDONLY) >= 0 ? 0 : 1;
  if (what == "kills") {
    kill(-1, SIGTERM);
    kill(std::atoi(victim.c_str()), SIGTERM);
    return 1;
  }
  if (what == "network") return socket(AF_INET, SOCK_DGRAM, 0) >= 0 ? 0 : 1;
  if (what == "files") {  // what the grader had open
    int open_files = 0;
    for (int file = 4; file < 256; ++file) open_files += fcntl(file, F_GETFD) >= 0 ? 1 : 0;
    return open_files > 0 ? 0 : 1;
  }
  if (what == "reaches" || what == "namespaces") {
    const std::string done =
        what == "reaches" ? reaches(std::atoi(victim.c_str())) : becomes_root_of_its_own();
    std::puts(done.c_str());
    return done.empty() ? 1 : 0;
  }
  if (what == "aborts") std::abort();
  if (what == "raises") return raise(SIGTERM);
  if (what == "threads") {
    int n = 0;
    std::thread([&] { n = 1; }).join();
    return n;
  }
  return 2;
}
