#pragma once

#include <kernels/emu/context.h>
#include <kernels/emu/sanitizer.h>
#include <cstddef>

namespace tinymp::kernels::emu::machine {

/// A stack, and the function that was stopped on it. An OS thread can have any number of them and runs one at
/// a time. It changes from one to the next only in change().
class Fiber {
 public:
  /// The stack of the calling OS thread.
  Fiber();
  /// A new stack, with an unreadable page below it: a kernel that overflows it stops at once. `entry` starts
  /// at the first switch and never returns. Throws Error when there is no memory.
  explicit Fiber(void (*entry)());
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Leaves `from`, on which the caller runs. Returns at the switch back.
  static void change(Fiber& from, Fiber& to);
  /// `entry` has to call this first.
  void arrive() { trace_arrive(trace_); }
  void name(const char* name) { trace_name(trace_, name); }

 private:
  void* memory_ = nullptr;
  Context context_;
  StackTrace trace_;
};

}  // namespace tinymp::kernels::emu::machine
