#pragma once

#include <linux/filter.h>

#include <array>
#include <cstddef>

namespace tinymp::classroom {

/// A filter program of the kernel (seccomp). It is put together after a fork, where another thread may hold
/// the lock of the heap, so it uses no heap.
struct FilterProgram {
  std::array<sock_filter, 256> steps;
  std::size_t size = 0;
};

/// Returns the filter that refuses the system calls a check does not need. `own` is the process that may send
/// signals to itself; 0 when all processes that it sees are its own.
FilterProgram filter_program(int own);

}  // namespace tinymp::classroom
