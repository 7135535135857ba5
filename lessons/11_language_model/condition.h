#pragma once

#include <lessons/lab/learn/lab.h>

namespace tinymp::lab {

/// One backward each of new models, from V x tokens = 2^22 to 2^27 with three V: prints which share of the
/// errors at the logits FP16 flushes at S = 1, and claims where the line lies.
void show_condition(Lab& lab);

}  // namespace tinymp::lab
