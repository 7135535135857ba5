#pragma once

#include <cstdint>

/// In which order the threads of a block, and the blocks of a grid, take their turns. A GPU promises none: a
/// kernel whose result depends on it lacks a barrier. Without sanitizers this is how such a kernel shows.
namespace tinymp::kernels::emu::machine {

enum class ThreadOrder : std::uint8_t { forward, reverse, shuffled };

struct Options {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 1;  ///< of the shuffle
};

/// At first what TINYMP_THREAD_ORDER says: forward, reverse, shuffled, or shuffled:SEED.
/// Throws UsageError when it says something else.
Options options();

/// For launches from now on. Not while a kernel runs.
void set_options(const Options& options);

}  // namespace tinymp::kernels::emu::machine
