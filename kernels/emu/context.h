#pragma once

#include <cstddef>

#if (!defined(__x86_64__) && !defined(__aarch64__)) || defined(TINYMP_EMU_UCONTEXT)
#define TINYMP_EMU_HAS_UCONTEXT 1
#include <ucontext.h>
#endif

/// The heart of it: how one OS thread stops in the middle of a function, goes on in the middle of another
/// one, and comes back.
///
/// A function that is running is a stack (return addresses and local variables) and the registers of the CPU.
/// Calling conventions let a function keep only a few of those across a call, the callee-saved ones. So a
/// function that (1) pushes these few on the stack, (2) notes the stack pointer, (3) loads another stack
/// pointer that it noted earlier, (4) pops the few from there and (5) returns - returns into another
/// function, which goes on as if its own call had come back. That takes some 15 instructions and about 10 ns;
/// an OS takes microseconds to change threads. Sources: System V ABI, AMD64 supplement, section 3.2.1, and
/// Procedure Call Standard for the Arm 64-bit Architecture, section 6.1.
namespace tinymp::kernels::emu::machine {

/// A function that stands still.
struct Context {
#if defined(TINYMP_EMU_HAS_UCONTEXT)
  ucontext_t
      registers{};  // POSIX does the same and saves the signal mask with a system call: 40 times slower
#else
  void* stack_pointer = nullptr;  // everything else lies on the stack
#endif
};

/// Lays out a fresh stack as if `entry` stood still before its first instruction. `entry` must never return.
void prepare(Context& context, void* lowest, std::size_t bytes, void (*entry)());

/// Stops here, goes on in `to`. Returns when a later switch goes on in `from`.
void swap(Context& from, Context& to);

}  // namespace tinymp::kernels::emu::machine
