#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

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
  return 2;
}
