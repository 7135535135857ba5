#pragma once

#include <lessons/09_autocast/verdicts.h>

/// The second question of lesson 09: Apex' levels O0 to O3, on a task that is easy for FP16 and on that of
/// lesson 05.
namespace tinymp::lab {

inline const std::string ordinary = "Which levels train an ordinary classifier?";

/// ... and whether small updates survive: lesson 05's question, asked of the levels.
void ask_about_levels(Lab& lab);

}  // namespace tinymp::lab
