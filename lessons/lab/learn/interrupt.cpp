#include <unistd.h>

#include <lessons/lab/learn/interrupt.h>
#include <algorithm>
#include <array>
#include <csignal>

namespace tinymp::lab {
namespace {

// A signal handler may touch what is here already, and call write(2).
std::array<char, 4096> words{};
volatile std::sig_atomic_t length = 0;

extern "C" void say_and_end(int signal) {
  // When even that cannot be written there is nobody left to tell.
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, words.data(), static_cast<std::size_t>(length));
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

// A handler of our own, for programs that are started inherit what is ignored.
extern "C" void do_nothing(int) {}

}  // namespace

void survive_file_limits() { std::signal(SIGXFSZ, do_nothing); }

LastWords::LastWords(const std::string& sentence) {
  const std::string text = "\n" + sentence + "\n";
  const std::size_t count = std::min(text.size(), words.size());
  std::copy_n(text.begin(), count, words.begin());
  length = static_cast<std::sig_atomic_t>(count);
  std::signal(SIGINT, say_and_end);
}

LastWords::~LastWords() { std::signal(SIGINT, SIG_DFL); }

}  // namespace tinymp::lab
