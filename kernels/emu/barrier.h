#pragma once

#include <kernels/emu/rendezvous.h>

namespace tinymp::kernels::emu {

inline void __syncthreads(machine::Where where = machine::Where::here()) {
  machine::meet_block({"__syncthreads", where});
}

inline void __syncwarp(unsigned mask = ~0u, machine::Where where = machine::Where::here()) {
  machine::meet_lanes({"__syncwarp", where}, machine::Meeting::memory, mask);
}

}  // namespace tinymp::kernels::emu
