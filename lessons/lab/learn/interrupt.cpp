#include <lessons/lab/learn/interrupt.h>
#include <csignal>

namespace tinymp::lab {
namespace {

volatile std::sig_atomic_t noted = 0;

extern "C" void note(int signal) {
  noted = 1;
  std::signal(signal, SIG_DFL);
}

}  // namespace

InterruptNote::InterruptNote() {
  noted = 0;
  std::signal(SIGINT, note);
}

InterruptNote::~InterruptNote() { std::signal(SIGINT, SIG_DFL); }

bool InterruptNote::seen() { return noted != 0; }

}  // namespace tinymp::lab
