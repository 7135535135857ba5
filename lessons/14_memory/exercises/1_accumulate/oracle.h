#pragma once

#include <lessons/14_memory/exercises/1_accumulate/setting.h>
#include <cmath>
#include <limits>
#include <vector>

/// What exercise 14.1 expects: the mean over samples, in double.
namespace tinymp::exercise {

inline constexpr float infinity = std::numeric_limits<float>::infinity();
inline constexpr float no_number = std::numeric_limits<float>::quiet_NaN();

struct Trial {
  bool half;
  float scale;
  std::vector<MicroBatch> batches;
};

/// How the samples of a step may be weighted; the right way weighs each by 1.
struct Sums {
  double samples = 0;
  double gradient = 0, loss = 0, size_of = 0;  ///< means over samples; of the sizes of the gradients
  double mean_of_means = 0, loss_of_means = 0;
  bool finite = true, equal = true;
};
inline Sums sums_of(const Trial& t) {
  Sums s;
  const auto count = static_cast<double>(t.batches.size());
  double scaled = 0;
  for (const MicroBatch& b : t.batches) {
    const auto size = static_cast<double>(b.size), g = static_cast<double>(b.gradient),
               loss = static_cast<double>(b.loss);
    s.samples += size;
    s.gradient += size * g, s.size_of += size * std::fabs(g), s.loss += size * loss;
    s.mean_of_means += g / count, s.loss_of_means += loss / count;
    scaled += std::fabs(g * static_cast<double>(t.scale));
    s.equal = s.equal && b.size == t.batches[0].size;
  }
  s.finite = scaled < (t.half ? 65520 : infinity);
  s.gradient /= s.samples, s.size_of /= s.samples, s.loss /= s.samples;
  return s;
}

}  // namespace tinymp::exercise
