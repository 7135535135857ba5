#pragma once

#include <cstddef>

#if (!defined(__x86_64__) && !defined(__aarch64__)) || defined(TINYMP_EMU_UCONTEXT)
#define TINYMP_EMU_HAS_UCONTEXT 1
#include <ucontext.h>
#endif

/// The core of the emulation: one OS thread stops in the middle of a function, goes on in the middle of
/// another, and comes back.
///
/// A function that is running is a stack (return addresses and local variables) and the registers of the CPU.
/// Calling conventions let a function keep only a few of those across a call, the callee-saved ones. So a
/// function can (1) push these few on the stack, (2) save the stack pointer, (3) load another stack pointer
/// that it saved earlier, (4) pop the few from there and (5) return. It then returns into another function,
/// which goes on as if its own call had come back. That takes some 15 instructions and about 10 ns; an OS
/// takes microseconds to change threads. Sources: System V ABI, AMD64 supplement, section 3.2.1, and
/// Procedure Call Standard for the Arm 64-bit Architecture, section 6.1.
namespace tinymp::kernels::emu::machine {

/// A function that is stopped.
struct Context {
#if defined(TINYMP_EMU_HAS_UCONTEXT)
  ucontext_t
      registers{};  // POSIX does the same and saves the signal mask with a system call: 40 times slower
#else
  void* stack_pointer = nullptr;  // everything else lies on the stack
#endif
};

/// Lays out a new stack as if `entry` were stopped before its first instruction. `entry` must never return.
void prepare(Context& context, void* lowest, std::size_t bytes, void (*entry)());

/// Stops here and goes on in `to`. Returns when a later swap goes on in `from`.
void swap(Context& from, Context& to);

}  // namespace tinymp::kernels::emu::machine
