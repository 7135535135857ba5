#pragma once

#include <lessons/lab/learn/lab.h>

namespace tinymp::lab {

/// y = a + b over arrays that fit a cache and over arrays that fit none: time and bytes a second, in FP32 and
/// in FP16, on one core of this machine. Nothing is claimed: processors differ.
void show_bandwidth(Lab& lab);

}  // namespace tinymp::lab
