#pragma once

#include <kernels/cuda/cuda.h>
#include <kernels/kernels.h>

/// Convolutions on tensor cores, FP16 and BF16 with sums in FP32, and FP16 with sums in FP16. Each returns false, and
/// writes nothing, where the GPU or the kernels do not take the formats or sizes; conv.cuh then computes one value after
/// the other.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// Takes out of `rest` what it does of it.
bool conv2d_on_tensor_cores(const View& x, const View& w, const Window& window, const View& y,
                            DType accumulate, Epilogue& rest);
bool conv2d_dx_on_tensor_cores(const View& dy, const View& w, const Window& window, const View& dx,
                               DType accumulate);
/// sums:(groups, dw.size()), of each group of images_of_a_group.
bool conv2d_dw_on_tensor_cores(const View& x, const View& dy, const Window& window, const View& dw,
                               float* sums, DType accumulate);

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
