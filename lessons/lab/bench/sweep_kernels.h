#pragma once

#include <functional>
#include <string>
#include <vector>

/// Products that ./learn bench gemm does not know, as the library calls them on Device::cuda.
namespace tinymp::lab::gpu_check {

struct SweepKernel {
  std::string what, sizes, transposed, format;
  double multiplications;
  /// Makes the operands, and returns the call.
  std::function<std::function<void()>()> prepare;
};

/// The convolutions of LeNet and ResNet-20 with their gradients in FP16; the products of the decoder's attention; products
/// of FP8 operands in the layout that tensor cores take, b transposed, and in the two where values are gathered first.
/// Under emulation all of them in small. UNTESTED ON HARDWARE.
std::vector<SweepKernel> sweep_kernels(bool emulated);

}  // namespace tinymp::lab::gpu_check
