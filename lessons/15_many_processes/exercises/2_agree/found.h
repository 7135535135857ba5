#pragma once

#include <cstdint>

/// The request and the reply of exercise 15.2: one step of one of several processes.
namespace tinymp::exercise {

struct Counts {
  std::int64_t values, nonfinite, zeros, subnormals;
};

/// The request is a list of these.
struct Question {
  Counts own, others;  ///< what this process has found, and the sum of what all others have
};

/// The reply is a list of these.
struct Answer {
  Counts found;
  std::int64_t calls, length;  ///< of sum(), and the numbers given to the last call
};

}  // namespace tinymp::exercise
