#pragma once

#include <linux/filter.h>

#include <vector>

namespace tinymp::classroom {

/// The program of the kernel's filter (seccomp) that refuses system calls which a check has no use for.
/// `own`: the process that may send signals to itself; 0 where all processes that it sees are its own.
std::vector<sock_filter> filter_program(int own);

}  // namespace tinymp::classroom
