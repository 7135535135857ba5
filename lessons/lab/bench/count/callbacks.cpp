#include <kernels/emu/accesses.h>
#include <cstddef>

// The functions that -fsanitize=thread calls before each load and store, and around each function. The site of an access is
// the place of its call.

using tinymp::kernels::emu::machine::note_access;

extern "C" {

#define TINYMP_AT_ACCESS(name, bytes) \
  void name(void* address) { note_access(address, bytes, __builtin_return_address(0)); }
#define TINYMP_OF_SIZE(bytes)                            \
  TINYMP_AT_ACCESS(__tsan_read##bytes, bytes)            \
  TINYMP_AT_ACCESS(__tsan_write##bytes, bytes)           \
  TINYMP_AT_ACCESS(__tsan_unaligned_read##bytes, bytes)  \
  TINYMP_AT_ACCESS(__tsan_unaligned_write##bytes, bytes) \
  void __tsan_read_write##bytes(void* address) { note_access(address, bytes, __builtin_return_address(0)); }
TINYMP_OF_SIZE(1)
TINYMP_OF_SIZE(2)
TINYMP_OF_SIZE(4)
TINYMP_OF_SIZE(8)
TINYMP_OF_SIZE(16)

void __tsan_read_range(void* address, std::size_t bytes) {
  note_access(address, bytes, __builtin_return_address(0));
}
void __tsan_write_range(void* address, std::size_t bytes) {
  note_access(address, bytes, __builtin_return_address(0));
}
void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}

// The atomic variables of the emulation itself, and those of kernels, which have no part in the counts.
char __tsan_atomic8_load(const volatile char* from, int) { return __atomic_load_n(from, __ATOMIC_SEQ_CST); }
int __tsan_atomic32_load(const volatile int* from, int) { return __atomic_load_n(from, __ATOMIC_SEQ_CST); }
long __tsan_atomic64_load(const volatile long* from, int) { return __atomic_load_n(from, __ATOMIC_SEQ_CST); }
int __tsan_atomic32_compare_exchange_weak(volatile int* at, int* expected, int wanted, int, int) {
  return __atomic_compare_exchange_n(at, expected, wanted, true, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
}
