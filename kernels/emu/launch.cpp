#include <kernels/emu/launch.h>
#include <kernels/emu/memory.h>
#include <kernels/emu/options.h>
#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/base/rng.h>
#include <algorithm>
#include <mutex>
#include <numeric>
#include <span>

namespace tinymp::kernels::emu::machine {
namespace {

/// Checks the limits of compute capability 7.5 to 9.0: CUDA C++ Programming Guide, "Technical
/// Specifications". The limit of shared memory is the largest of them, 227 KiB.
void check(const Launch& launch) {
  const dim3 grid = launch.grid, block = launch.block;
  const bool grid_fits = grid.count() > 0 && grid.x <= 0x7fff'ffffu && grid.y <= 65535u && grid.z <= 65535u;
  const bool block_fits = block.count() > 0 && block.count() <= 1024 && block.z <= 64;
  expect(
      grid_fits && block_fits && launch.shared_bytes <= 227 * 1024, "launch of kernel ",
      short_kernel_name(launch.kernel), ": a grid of ", grid.x, "x", grid.y, "x", grid.z, " blocks of ",
      block.x, "x", block.y, "x", block.z, " threads with ", launch.shared_bytes,
      " bytes of dynamic shared memory; a GPU takes 1 to 1024 threads (64 at most along z), a grid of up to "
      "2147483647 x 65535 x 65535 and 232448 bytes");
  expect(Block::running() == nullptr, "launch of kernel ", short_kernel_name(launch.kernel),
         " from within a kernel: the emulation has no dynamic parallelism");
}

std::vector<unsigned> turns(unsigned count, const Options& options) {
  std::vector<unsigned> order(count);
  std::iota(order.begin(), order.end(), 0u);
  if (options.order == ThreadOrder::reverse) std::reverse(order.begin(), order.end());
  if (options.order == ThreadOrder::shuffled) Rng(options.seed).shuffle(std::span(order));
  return order;
}

void run_block(const Launch& launch, unsigned long long number) {
  thread_local Block block;  // keeps its stacks for the next block
  const auto rest = static_cast<unsigned>(number / launch.grid.x);
  block.run(launch,
            {static_cast<unsigned>(number % launch.grid.x), rest % launch.grid.y, rest / launch.grid.y});
}

}  // namespace

void run_grid(Launch launch) {
  check(launch);
  launch.order = turns(static_cast<unsigned>(launch.block.count()), options());
  const auto blocks = static_cast<std::int64_t>(launch.grid.count());
  const bool backwards = options().order == ThreadOrder::reverse;
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      run_block(launch, static_cast<unsigned long long>(backwards ? blocks - 1 - i : i));
    }
  };
  if constexpr (under_asan || under_tsan) {
    static std::mutex one_at_a_time;  // __shared__ is one variable of the whole program (shared.h)
    const std::lock_guard lock(one_at_a_time);
    run(0, blocks);
  } else {
    parallel_for(blocks, 1, run);
  }
  check_guards(short_kernel_name(launch.kernel));
}

}  // namespace tinymp::kernels::emu::machine
