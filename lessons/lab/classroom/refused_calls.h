#pragma once

#include <linux/filter.h>

#include <array>
#include <cstddef>

namespace tinymp::classroom {

/// A program of the kernel's filter (seccomp). It is put together after a fork, where another thread may
/// have held the heap's lock: without the heap.
struct FilterProgram {
  std::array<sock_filter, 256> steps;
  std::size_t size = 0;
};

/// The one that refuses system calls which a check has no use for. `own`: the process that may send signals
/// to itself; 0 where all processes that it sees are its own.
FilterProgram filter_program(int own);

}  // namespace tinymp::classroom
