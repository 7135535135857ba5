#pragma once

#include <lessons/lab/learn/lab.h>

namespace tinymp::lab {

/// Each step of a run at which S changes, and why. The run must have logged every step.
void print_trace(Lab& lab, const train::Run& run);

/// The residual net under a dynamic S, and under a static one that is too high: how many steps are taken?
void claim_steps(Lab& lab);

}  // namespace tinymp::lab
