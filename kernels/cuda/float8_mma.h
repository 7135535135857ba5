#pragma once

#include <kernels/cuda/cuda.h>
#include <kernels/kernels.h>

/// Products of FP8 operands on tensor cores. They return false, and do nothing, where these do not take the product.
/// `sums` are in f32; what follows a product follows in finish_float8 (float8.h).
namespace tinymp::kernels::TINYMP_EXECUTOR {

bool gemm_float8(const View& a, Trans ta, const View& b, Trans tb, const View& sums, int promote_every);
bool conv2d_float8(const View& x, const View& w, const Window& window, const View& sums, int promote_every);
bool conv2d_dx_float8(const View& dy, const View& w, const Window& window, const View& sums,
                      int promote_every);
/// sums:(groups, dw), one for each group of images (formulas/conv.h).
bool conv2d_dw_float8(const View& x, const View& dy, const Window& window, const Shape& dw, float* sums,
                      int promote_every);

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
