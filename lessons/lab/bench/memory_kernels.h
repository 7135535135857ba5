#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// The kernels whose speed is that of the memory, each ready to run on Device::cuda.
namespace tinymp::lab::gpu_check {

struct MovingKernel {
  std::string name;
  double bytes;  ///< read and written, each value once, however often the kernel comes back to it
  std::function<void()> run;
};

/// Casts, element-wise kernels, sums, the update: `values` of them, a multiple of 1024.
std::vector<MovingKernel> elementwise_kernels(std::int64_t values);
/// Softmax, norms, pools, dropout, embedding, cross-entropy, FP8: the same, a multiple of 4096.
std::vector<MovingKernel> row_kernels(std::int64_t values);

}  // namespace tinymp::lab::gpu_check
