#pragma once

#include <cstdint>

/// What the machine has counted since the program began, over all threads.
namespace tinymp::kernels::emu::machine {

/// How often tensor cores have multiplied two tiles: each mma_sync() of a warp is one, each mma_m16n8k16()
/// too. A kernel after which there are no more of them than before has left tensor cores alone.
std::uint64_t tile_products();

}  // namespace tinymp::kernels::emu::machine
