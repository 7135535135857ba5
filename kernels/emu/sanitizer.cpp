#include <kernels/emu/sanitizer.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) && !defined(__SANITIZE_THREAD__)
#define __SANITIZE_THREAD__ 1
#endif
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
extern "C" {
void AnnotateIgnoreReadsBegin(const char*, int);
void AnnotateIgnoreReadsEnd(const char*, int);
void AnnotateIgnoreWritesBegin(const char*, int);
void AnnotateIgnoreWritesEnd(const char*, int);
}
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace tinymp::kernels::emu::machine {

#if defined(__SANITIZE_THREAD__)
void detail::tsan_ignore_begin() {
  AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
  AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
}
void detail::tsan_ignore_end() {
  AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
  AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
}
void detail::tsan_publish(void* tag) { __tsan_release(tag); }
void detail::tsan_observe(void* tag) { __tsan_acquire(tag); }
void trace_name(StackTrace& stack, const char* name) { __tsan_set_fiber_name(stack.thread, name); }
#else
void detail::tsan_ignore_begin() {}
void detail::tsan_ignore_end() {}
void detail::tsan_publish(void*) {}
void detail::tsan_observe(void*) {}
void trace_name(StackTrace&, const char*) {}
#endif

#if defined(__SANITIZE_ADDRESS__)
void forbid(void* memory, std::size_t bytes) { __asan_poison_memory_region(memory, bytes); }
void permit(void* memory, std::size_t bytes) { __asan_unpoison_memory_region(memory, bytes); }
void before_report(void (*print)(const char*)) { __asan_set_error_report_callback(print); }
#else
void forbid(void*, std::size_t) {}
void permit(void*, std::size_t) {}
void before_report(void (*)(const char*)) {}
#endif

void trace_new_stack(StackTrace& stack, const void* lowest, std::size_t bytes) {
  stack.lowest = lowest;
  stack.bytes = bytes;
#if defined(__SANITIZE_THREAD__)
  stack.thread = __tsan_create_fiber(0);
#endif
}

void trace_own_stack([[maybe_unused]] StackTrace& stack) {
#if defined(__SANITIZE_THREAD__)
  stack.thread = __tsan_get_current_fiber();
#elif defined(__SANITIZE_ADDRESS__)
  pthread_attr_t attributes;
  void* lowest = nullptr;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &stack.bytes);
  pthread_attr_destroy(&attributes);
  stack.lowest = lowest;
#endif
}

void trace_end([[maybe_unused]] StackTrace& stack) {
#if defined(__SANITIZE_THREAD__)
  // A retired fiber still holds a Quiet (Block::retire). TSan requires it to end before its thread does.
  void* const own = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(stack.thread, __tsan_switch_to_fiber_no_sync);
  detail::tsan_ignore_end();
  __tsan_switch_to_fiber(own, __tsan_switch_to_fiber_no_sync);
  __tsan_destroy_fiber(stack.thread);
#elif defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack.lowest, stack.bytes);  // the next owner of this memory is not to blame
#endif
}

void detail::trace_leave([[maybe_unused]] StackTrace& from, [[maybe_unused]] StackTrace& to) {
#if defined(__SANITIZE_THREAD__)
  __tsan_switch_to_fiber(to.thread, __tsan_switch_to_fiber_no_sync);
#elif defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&from.fake_stack, to.lowest, to.bytes);
#endif
}

void detail::trace_arrive([[maybe_unused]] StackTrace& here) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(here.fake_stack, nullptr, nullptr);
#endif
}

}  // namespace tinymp::kernels::emu::machine
