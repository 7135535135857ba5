#pragma once

#include <cstdint>

/// Counts of the machine since the program began, over all threads.
namespace tinymp::kernels::emu::machine {

/// The number of tile products of tensor cores: each mma_sync() of a warp is one, and each mma_m16n8k16().
/// When a kernel leaves the count as it was, it has not used tensor cores.
std::uint64_t tile_products();

}  // namespace tinymp::kernels::emu::machine
