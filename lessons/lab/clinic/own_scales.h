#pragma once

#include <tinymp/amp/float8_products.h>
#include <vector>

namespace tinymp::clinic {

/// Delayed scales with a rule that a patient's owner wrote. The library has done its part of the end of a step already: the
/// histories of tensors that ran have rolled. This rolls the others, too, as if their amax were 0, and computes all scales:
/// largest / max(1e-12, the largest amax of the history), the rule of torchao. `places` are DelayedScaleState::next from
/// before the step. A history has 2 steps or more.
void roll_all_histories(const Float8Products& products, const std::vector<double>& places,
                        const EightBits& how);

}  // namespace tinymp::clinic
