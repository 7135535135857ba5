#pragma once

#include <lessons/08_islands/verdicts.h>

/// The third island of lesson 08: what an optimizer remembers, and its epsilon.
namespace tinymp::lab {

inline const std::string states = "May Adam keep its moments in FP16?";

void ask_about_adam(Lab& lab);

}  // namespace tinymp::lab
