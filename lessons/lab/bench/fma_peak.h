#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// What the processor can do at most: fused multiply-adds on registers, and nothing else.
namespace tinymp::kernels::bench {

struct FmaLoop {
  const char* instructions;  ///< "avx2"
  int operations;            ///< floating-point operations in a round: two for each multiply-add of each lane
  float (*run)(std::int64_t rounds);
};

/// Those that this processor runs, the widest last. On other processors than x86 there is one, of plain C++.
std::span<const FmaLoop> fma_loops();

/// Billions of operations a second, while so many threads do the same.
double fma_rate(const FmaLoop& loop, int threads, double seconds);

/// Seconds that `rounds` take on each of so many threads at once.
double fma_seconds(const FmaLoop& loop, int threads, std::int64_t rounds);

}  // namespace tinymp::kernels::bench
