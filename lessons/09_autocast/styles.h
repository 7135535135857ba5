#pragma once

#include <lessons/lab/learn/lab.h>

/// The third question of lesson 09: the three programs of the literature, spelled out.
namespace tinymp::lab {

void compare_styles(Lab& lab);

}  // namespace tinymp::lab
