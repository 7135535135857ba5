#pragma once

#include <lessons/lab/clinic/case.h>

namespace tinymp::clinic {

/// Trains by the lines of a program, one after the other, as their owner wrote them: also in an order, or
/// with a line left out, that the types of the library refuse. Here the arena of the gradients is what .grad
/// is elsewhere: what was not set to zero is still there, and a clip changes it. With the usual lines
/// its runs have the bits of train::run.
train::Run hand_loop(const train::Plan& plan, const Program& program, const std::string& path);

}  // namespace tinymp::clinic
