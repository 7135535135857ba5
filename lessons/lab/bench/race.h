#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

/// Finds which of several contenders is faster, on a machine whose speed changes from second to second. They
/// take turns, so that all of them see the same seconds, and the medians are compared.
namespace tinymp::kernels::bench {

struct Contender {
  std::string name;
  std::function<double(int runs)>
      seconds;  ///< seconds of one of so many runs in a row, after one that does not count
};

struct RaceRules {
  int rounds = 11;               ///< samples of each contender
  double sample_seconds = 0.05;  ///< runs fill a sample for so long, so that few find the caches cold
  double patience = 10;          ///< seconds for one contender; a slower one gets fewer samples
  int least = 3;                 ///< at least so many samples, unless one run takes longer than `patience`

  static RaceRules quick() { return {.rounds = 3, .sample_seconds = 0.001, .patience = 0.5, .least = 1}; }
};

struct Timing {
  double median = 0, fastest = 0;  ///< seconds; 0: not timed
  int samples = 0, runs = 0;       ///< samples, and runs in each
  std::string fault{};             ///< why it was not timed
};

/// Returns one Timing for each contender, in their order. A contender that throws Error leaves the race; the
/// others go on.
std::vector<Timing> race(std::span<const Contender> contenders, const RaceRules& rules);

double median(std::vector<double> values);

/// Returns when the threads of this process have come to rest. The threads of OpenBLAS, and of other
/// libraries, spin while they wait for more work, and would slow down the next contender.
void wait_for_threads();

/// Seconds of one of `runs` calls in a row, after wait_for_threads(). A call that does not count comes first,
/// unless `runs` is 1. `wait` returns when all that `work` has begun is done; needed where work goes on on a GPU.
double seconds_of(
    const std::function<void()>& work, int runs, const std::function<void()>& wait = [] {});

}  // namespace tinymp::kernels::bench
