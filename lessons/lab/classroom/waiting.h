#pragma once

#include <chrono>
#include <string>

namespace tinymp::classroom {

/// Says on standard error that an exercise is being checked: at once, and on a terminal after five seconds
/// also how long it has taken. On a terminal the destructor removes the line; elsewhere it stays.
class Waiting {
 public:
  explicit Waiting(const std::string& number);
  ~Waiting();
  Waiting(const Waiting&) = delete;
  Waiting& operator=(const Waiting&) = delete;
  void tick();  ///< has to be called several times a second

 private:
  bool terminal_;
  std::string text_;
  std::chrono::steady_clock::time_point start_;
  long shown_ = 0;  ///< seconds
};

}  // namespace tinymp::classroom
