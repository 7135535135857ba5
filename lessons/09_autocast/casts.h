#pragma once

#include <lessons/lab/learn/lab.h>

/// What autocast does to a step, before anything is trained: the lists, op by op, casts and bytes.
namespace tinymp::lab {

void show_lists(Lab& lab);
void show_casts(Lab& lab);

}  // namespace tinymp::lab
