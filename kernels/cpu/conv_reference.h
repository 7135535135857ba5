#pragma once

#include <kernels/kernels.h>

/// Convolution by its definition, formulas/conv.h, without any optimisation: the oracle of cpu/conv.cpp,
/// which uses it for f64.
namespace tinymp::kernels::cpu {

void conv2d_reference(const View& x, const View& w, const Window& window, const View& y, DType accumulate,
                      const Epilogue& after);
void conv2d_dx_reference(const View& dy, const View& w, const Window& window, const View& dx,
                         DType accumulate);
void conv2d_dw_reference(const View& x, const View& dy, const Window& window, const View& dw,
                         DType accumulate);

}  // namespace tinymp::kernels::cpu
