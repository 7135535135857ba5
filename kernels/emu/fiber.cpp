#include <kernels/emu/fiber.h>
#include <sys/mman.h>
#include <tinymp/base/error.h>

namespace tinymp::kernels::emu::machine {
namespace {

constexpr std::size_t page = 64 * 1024;  // a multiple of every page size in use
constexpr std::size_t stack_bytes = (under_asan || under_tsan ? 8 : 2) * page;

}  // namespace

Fiber::Fiber() { trace_own_stack(trace_); }

Fiber::Fiber(void (*entry)()) {
  memory_ = mmap(nullptr, page + stack_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect(memory_ != MAP_FAILED, "emulation: no memory for the stack of one more CUDA thread (", stack_bytes,
         " bytes); launch blocks of fewer threads, or raise the limits ulimit -v and vm.max_map_count");
  mprotect(memory_, page, PROT_NONE);
  char* const stack = static_cast<char*>(memory_) + page;
  prepare(context_, stack, stack_bytes, entry);
  trace_new_stack(trace_, stack, stack_bytes);
}

Fiber::~Fiber() {
  if (memory_ == nullptr) return;
  trace_end(trace_);
  munmap(memory_, page + stack_bytes);
}

void Fiber::change(Fiber& from, Fiber& to) {
  trace_leave(from.trace_, to.trace_);
  swap(from.context_, to.context_);
  from.arrive();
}

}  // namespace tinymp::kernels::emu::machine
