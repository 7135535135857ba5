#include <lessons/lab/learn/interrupt.h>
#include <csignal>

namespace tinymp::lab {
namespace {

volatile std::sig_atomic_t noted = 0;  // the signal

void set_all(void (*handler)(int)) {
  std::signal(SIGINT, handler);
  std::signal(SIGTERM, handler);
  std::signal(SIGUSR1, handler);  // which mpirun hands on to all ranks
  if (std::signal(SIGHUP, handler) == SIG_IGN) std::signal(SIGHUP, SIG_IGN);  // nohup
}

extern "C" void note(int signal) {
  noted = signal;
  set_all(SIG_DFL);
}

}  // namespace

InterruptNote::InterruptNote() {
  noted = 0;
  set_all(note);
}

InterruptNote::~InterruptNote() { set_all(SIG_DFL); }

bool InterruptNote::seen() { return noted != 0; }

int InterruptNote::exit_code() { return 128 + static_cast<int>(noted); }

}  // namespace tinymp::lab
