#pragma once

#include <lessons/lab/bench/executor.h>
#include <string>

namespace tinymp::kernels::bench {

struct Limit {
  double tflops = 0;   ///< 0: not known
  std::string source;  ///< its source, or why it is not known
};

/// The peak of the card in products of dense matrices, which have no zeros to skip: in its tensor cores for
/// FP16 and BF16 operands, in its FP32 units for FP32 operands.
Limit limit_of(const Machine& machine, Format format, Sums sums);

}  // namespace tinymp::kernels::bench
