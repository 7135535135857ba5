#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/base/rng.h>
#include <cstdint>

namespace tinymp::kernels {

/// Decides which values of a step are dropped, by a hash of (seed, step, place) and of nothing else. So no mask
/// is stored, and the order of the threads does not change it.
class DropoutMask {
 public:
  /// `step` is a whole number, 0 .. 2^53.
  TINYMP_HD constexpr DropoutMask(float p, std::uint64_t seed, double step)
      : p_(p), stream_(Rng(seed).split(step >= 0 && step <= 0x1p53 ? static_cast<std::uint64_t>(step) : 0)) {}

  TINYMP_HD constexpr bool keeps(std::int64_t place) const {
    return Rng(stream_.seed(), static_cast<std::uint64_t>(place)).uniform(0, 1) >= p_;
  }

 private:
  float p_;
  Rng stream_;
};

}  // namespace tinymp::kernels
