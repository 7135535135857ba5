#pragma once

#include <cstddef>

/// Tells ThreadSanitizer and AddressSanitizer about fibers, which they do not know. In an ordinary build
/// these functions do nothing.
namespace tinymp::kernels::emu::machine {

#if defined(__SANITIZE_THREAD__)
inline constexpr bool under_tsan = true;
#elif defined(__has_feature)
inline constexpr bool under_tsan = __has_feature(thread_sanitizer);
#else
inline constexpr bool under_tsan = false;
#endif

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool under_asan = true;
#elif defined(__has_feature)
inline constexpr bool under_asan = __has_feature(address_sanitizer);
#else
inline constexpr bool under_asan = false;
#endif

/// The data that the sanitizers keep for a stack.
struct StackTrace {
  void* thread = nullptr;      ///< TSan: the history of one CUDA thread
  void* fake_stack = nullptr;  ///< ASan: kept for a stack while another one runs
  const void* lowest = nullptr;
  std::size_t bytes = 0;
};

void trace_new_stack(StackTrace& stack, const void* lowest, std::size_t bytes);
void trace_own_stack(StackTrace& stack);  ///< the stack of the calling OS thread
void trace_end(StackTrace& stack);
/// Called before a switch, and first after one. They tell TSan that a switch synchronises nothing: otherwise
/// TSan would see every race between CUDA threads as ordered.
namespace detail {
void trace_leave(StackTrace& from, StackTrace& to);
void trace_arrive(StackTrace& here);
}  // namespace detail
inline void trace_leave(StackTrace& from, StackTrace& to) {
  if (under_tsan || under_asan) detail::trace_leave(from, to);
}
inline void trace_arrive(StackTrace& here) {
  if (under_asan) detail::trace_arrive(here);
}
void trace_name(StackTrace& stack, const char* name);  ///< TSan's name for the CUDA thread on this stack

namespace detail {
void tsan_ignore_begin();
void tsan_ignore_end();
void tsan_publish(void* tag);
void tsan_observe(void* tag);
}  // namespace detail

/// TSan ignores all accesses while a Quiet lives: the book-keeping of the machine is no race of the kernel.
class Quiet {
 public:
  Quiet() {
    if (under_tsan) detail::tsan_ignore_begin();
  }
  ~Quiet() {
    if (under_tsan) detail::tsan_ignore_end();
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
};

/// Everything before publish(tag) comes before everything after a later observe(tag).
inline void publish(void* tag) {
  if (under_tsan) detail::tsan_publish(tag);
}
inline void observe(void* tag) {
  if (under_tsan) detail::tsan_observe(tag);
}

/// ASan: forbids access to this memory until permit().
void forbid(void* memory, std::size_t bytes);
void permit(void* memory, std::size_t bytes);

/// ASan: calls `print` before it reports a fault and ends the program.
void before_report(void (*print)(const char* report));

}  // namespace tinymp::kernels::emu::machine
