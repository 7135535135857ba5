#pragma once

#include <chrono>
#include <string>

namespace tinymp::classroom {

/// Says on standard error that an exercise is being checked, while it lives: at once, and after five seconds
/// how long it has taken. On a terminal the line is gone when the verdict comes; elsewhere it is a line.
class Waiting {
 public:
  explicit Waiting(const std::string& number);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  void tick();  ///< to be called many times a second

 private:
  bool terminal_;
  std::string text_;
  std::chrono::steady_clock::time_point start_;
  long shown_ = 0;  ///< seconds
};

}  // namespace tinymp::classroom
