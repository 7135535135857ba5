#pragma once

#include <lessons/lab/learn/lab.h>

namespace tinymp::lab {

/// Prints each step of a run at which S changes, and why. The run must have logged every step.
void print_trace(Lab& lab, const train::Run& run);

/// Claims how many steps the residual net takes: some with a dynamic S, none with a static S that is too high.
void claim_steps(Lab& lab);

}  // namespace tinymp::lab
