#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

/// Which of several things is faster, on a machine that is never quite the same from one second to the next:
/// they take turns, so that all of them see the same seconds, and the medians are compared.
namespace tinymp::kernels::bench {

struct Contender {
  std::string name;
  std::function<double(int runs)>
      seconds;  ///< what one of so many runs in a row takes, after one that does not count
};

struct RaceRules {
  int rounds = 11;               ///< samples of each
  double sample_seconds = 0.05;  ///< as many runs a sample as fill this, so that few find the caches cold
  double patience = 10;          ///< seconds for one contender; a slower one gets fewer samples
  int least = 3;                 ///< but so many, unless a single run takes longer than that

  static RaceRules quick() { return {.rounds = 3, .sample_seconds = 0.001, .patience = 0.5, .least = 1}; }
};

struct Timing {
  double median = 0, fastest = 0;  ///< seconds; 0: not timed
  int samples = 0, runs = 0;       ///< samples, and runs in each
  std::string fault{};             ///< why it was not timed
};

/// One Timing for each contender, in their order. Who throws an Error is out, and the others go on.
std::vector<Timing> race(std::span<const Contender> contenders, const RaceRules& rules);

double median(std::vector<double> values);

/// Returns when the threads of this process have come to rest. Those of OpenBLAS, and others, wait for more
/// work with their eyes open, and would take part of the machine from who is timed next.
void wait_for_threads();

/// What one of `runs` calls in a row takes, after wait_for_threads() and, unless it is a single one, a call
/// that does not count.
double seconds_of(const std::function<void()>& work, int runs);

}  // namespace tinymp::kernels::bench
