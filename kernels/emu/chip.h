#pragma once

#include <kernels/numerics/tensor_core.h>
#include <optional>

/// Which GPU the emulation is, as far as that shows in results: what its tensor cores make of a sum.
namespace tinymp::kernels::emu::machine {

/// None is a GPU that never was: its tensor cores have the bits of the CPU's gemm (tensor_core.h), take all
/// that any chip takes, and are the fastest to emulate.
using Chip = std::optional<Gpu>;

/// At first what TINYMP_EMULATE says: a name (v100, a100, ada, h100, h200, b200), or 1 for none.
/// Throws UsageError when it says something else.
Chip chip();

/// For launches from now on. Not while a kernel runs.
void use_chip(Chip chip);

/// 80 is sm_80. None counts as 90.
int architecture_of(Chip chip);

}  // namespace tinymp::kernels::emu::machine
