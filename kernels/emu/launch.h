#pragma once

#include <kernels/cuda/stream.h>
#include <kernels/emu/block.h>
#include <kernels/emu/kernel_name.h>
#include <kernels/recording.h>
#include <cstddef>

namespace tinymp::kernels::emu {
namespace machine {

/// Runs all blocks, on several OS threads if there are several blocks. Throws Error for a launch that no GPU
/// accepts, and the exception of a block.
void run_grid(Launch launch);

}  // namespace machine

/// kernel<<<grid, block, shared_bytes, stream>>>(arguments...); returns when the kernel is done. While a graph is recorded
/// (kernels/graph.h), returns at once.
template <auto kernel, class... Arguments>
void launch(dim3 grid, dim3 block, std::size_t shared_bytes, Stream stream, const Arguments&... arguments) {
  if (recording != nullptr)
    return recording->add(machine::short_kernel_name(machine::kernel_name<kernel>()),
                          [=] { launch<kernel>(grid, block, shared_bytes, stream, arguments...); });
  const auto call = [&] { kernel(arguments...); };
  machine::run_grid({.kernel = machine::kernel_name<kernel>(),
                     .grid = grid,
                     .block = block,
                     .shared_bytes = shared_bytes,
                     .run = [](const void* f) { (*static_cast<const decltype(call)*>(f))(); },
                     .arguments = &call});
}

}  // namespace tinymp::kernels::emu
