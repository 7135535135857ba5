#pragma once

#include <cstdint>
#include <span>
#include <vector>

/// Measures the peak of the processor: fused multiply-adds on registers, and nothing else.
namespace tinymp::kernels::bench {

struct FmaLoop {
  const char* instructions;  ///< "avx2"
  int operations;            ///< floating-point operations a round: 2 for each multiply-add of each lane
  float (*run)(std::int64_t rounds);
};

/// The loops that this processor can run, the widest last. Processors other than x86 have one, in plain C++.
std::span<const FmaLoop> fma_loops();

/// Billions of operations a second, summed over `threads` threads that run the loop at once.
double fma_rate(const FmaLoop& loop, int threads, double seconds);

/// Seconds that `rounds` rounds take on each of `threads` threads at once.
double fma_seconds(const FmaLoop& loop, int threads, std::int64_t rounds);

}  // namespace tinymp::kernels::bench
