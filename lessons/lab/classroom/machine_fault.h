#pragma once

#include <lessons/lab/classroom/sandbox.h>
#include <string>

namespace tinymp::classroom {

/// Returns why a compiler could not work: it is missing, may not write its temporary files, was ended from
/// outside, or the disk is full. The reason is in the compiler's words where it has said any. Empty when the
/// compiled text is at fault.
std::string machine_fault(const Finished& compiler);

}  // namespace tinymp::classroom
