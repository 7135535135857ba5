#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/classroom/waiting.h>
#include <iostream>

namespace tinymp::classroom {

Waiting::Waiting(const std::string& number)
    : terminal_(isatty(STDERR_FILENO) == 1),
      text_(fmt::format("checking {} ...", number)),
      start_(std::chrono::steady_clock::now()) {
  std::cout.flush();
  std::cerr << text_ << (terminal_ ? "" : "\n") << std::flush;
}

void Waiting::tick() {
  if (!terminal_) return;
  const auto passed = std::chrono::steady_clock::now() - start_;
  const long seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  if (seconds < 5 || seconds == shown_) return;
  shown_ = seconds;
  std::cerr << fmt::format("\r{} ({} s; normal is 1-6 s) ", text_, seconds) << std::flush;
}

Waiting::~Waiting() {
  if (terminal_) std::cerr << "\r" << std::string(text_.size() + 30, ' ') << "\r" << std::flush;
}

}  // namespace tinymp::classroom
