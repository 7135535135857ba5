#pragma once

#include <lessons/10_convnet/runs.h>

/// Do FP32 and mixed precision end alike? Pairs of runs, and what their differences allow to say.
namespace tinymp::lab {

void ask_about_parity(Lab& lab);
/// The same for 64,000 steps, on a GPU.
void compare_in_full(Lab& lab);

}  // namespace tinymp::lab
