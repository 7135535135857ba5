#pragma once

#include <kernels/cpu/block.h>
#include <kernels/formulas/norm.h>
#include <kernels/kernels.h>

namespace tinymp::kernels::cpu {

/// 1 / sqrt(variance + epsilon) of all columns, or of all rows.
template <class C>
void inverse_deviations(const Normalizer& by, C* inverse) {
  for_each_value<C>(by.variance.size(),
                    [=, variance = by.variance.data<C>(), epsilon = static_cast<C>(by.epsilon)](
                        std::int64_t i) { inverse[i] = BatchNorm::inverse_deviation(variance[i], epsilon); });
}

}  // namespace tinymp::kernels::cpu
