#pragma once

#include <kernels/emu/context.h>
#include <kernels/emu/sanitizer.h>
#include <cstddef>

namespace tinymp::kernels::emu::machine {

/// A stack, and what ran on it when it was left. An OS thread can have any number, and runs one at a time: it
/// goes from one to the next where the text says so, and nowhere else.
class Fiber {
 public:
  /// The stack that the calling OS thread came with.
  Fiber();
  /// A new stack, with an unreadable page below it: a kernel that overflows it stops at once. `entry` starts
  /// at the first switch and never returns. Throws Error when there is no memory.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves `from`, on which the caller runs; returns at the switch back.
  static void change(Fiber& from, Fiber& to);
  /// The first thing that `entry` does.
  void arrive() { trace_arrive(trace_); }
  void name(const char* name) { trace_name(trace_, name); }

 private:
  void* memory_ = nullptr;
  Context context_;
  StackTrace trace_;
};

}  // namespace tinymp::kernels::emu::machine
