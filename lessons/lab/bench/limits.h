#pragma once

#include <lessons/lab/bench/executor.h>
#include <string>

namespace tinymp::kernels::bench {

struct Limit {
  double tflops = 0;   ///< 0: not known
  std::string source;  ///< where it is from, or why it is not known
};

/// What the card can do at most in multiplications of matrices without zeros to skip ("dense"): in its tensor
/// cores for FP16 and BF16 operands, in its FP32 units for FP32 ones.
Limit limit_of(const Machine& machine, Format format, Sums sums);

}  // namespace tinymp::kernels::bench
