#pragma once

#include <cstdint>

/// The order in which the threads of a block, and the blocks of a grid, take their turns. A GPU promises no
/// order, so a kernel whose result depends on it lacks a barrier. Another order shows such a kernel without
/// sanitizers.
namespace tinymp::kernels::emu::machine {

enum class ThreadOrder : std::uint8_t { forward, reverse, shuffled };

struct Options {
  ThreadOrder order = ThreadOrder::forward;
  std::uint64_t seed = 1;  ///< seed of the shuffle
};

/// The options. At first TINYMP_THREAD_ORDER chooses them: forward, reverse, shuffled, or shuffled:SEED.
/// Throws UsageError for another value.
Options options();

/// Sets the options for later launches. Do not call it while a kernel runs.
void set_options(const Options& options);

}  // namespace tinymp::kernels::emu::machine
