#pragma once

#include <kernels/numerics/tensor_core.h>
#include <optional>

/// The GPU that the emulation imitates, as far as results show it: the way its tensor cores add.
namespace tinymp::kernels::emu::machine {

/// An empty Chip is a GPU that does not exist: its tensor cores have the bits of the CPU's gemm
/// (tensor_core.h), take all formats of any chip, and are the fastest to emulate.
using Chip = std::optional<Gpu>;

/// The chip. At first TINYMP_EMULATE chooses it: a name (v100, a100, ada, h100, h200, b200), or 1 for none.
/// Throws UsageError for another value.
Chip chip();

/// Sets the chip for later launches. Do not call it while a kernel runs.
void use_chip(Chip chip);

/// How the chip adds FP8. At first as wgmma does it, with 13 bits on Hopper: so do the libraries that train in FP8 there,
/// and so it is shown here. A real Hopper adds for mma.sync, which the kernels use, as Instruction::mma_sync has it.
/// (On Ada both are the same.) Do not call it while a kernel runs.
Instruction float8_instruction();
void use_float8_instruction(Instruction instruction);

/// 80 is sm_80. An empty Chip counts as 90.
int architecture_of(Chip chip);

}  // namespace tinymp::kernels::emu::machine
