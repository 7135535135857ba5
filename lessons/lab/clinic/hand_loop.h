#pragma once

#include <lessons/lab/clinic/case.h>

namespace tinymp::clinic {

/// Trains with the lines of a program, in the order in which their owner wrote them. The order, or a missing
/// line, may be one that the types of the library refuse. The arena of the gradients plays the part of .grad
/// in other frameworks: a gradient that is not set to zero stays, and a clip changes it. With the usual lines
/// its runs have the bits of train::run.
train::Run hand_loop(const train::Plan& plan, const Program& program, const std::string& path);

}  // namespace tinymp::clinic
