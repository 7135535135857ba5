#include <kernels/emu/context.h>
#include <cstdint>
#include <cstring>

#if !defined(TINYMP_EMU_HAS_UCONTEXT)

#if defined(__APPLE__)
#define TINYMP_SYMBOL "_tinymp_emu_swap"
#define TINYMP_END ""
#else
#define TINYMP_SYMBOL "tinymp_emu_swap"
#define TINYMP_END ".size tinymp_emu_swap, . - tinymp_emu_swap\n"
#endif

// void tinymp_emu_swap(void** save_stack_pointer, void* load_stack_pointer)
extern "C" void tinymp_emu_swap(void** save, void* load);

#if defined(__x86_64__)
asm(".text\n.globl " TINYMP_SYMBOL "\n" TINYMP_SYMBOL R"(:
  push %rbp
  push %rbx
  push %r12
  push %r13
  push %r14
  push %r15
  mov  %rsp, (%rdi)
  mov  %rsi, %rsp
  pop  %r15
  pop  %r14
  pop  %r13
  pop  %r12
  pop  %rbx
  pop  %rbp
  ret
)" TINYMP_END);
#else
asm(".text\n.globl " TINYMP_SYMBOL "\n.p2align 2\n" TINYMP_SYMBOL R"(:
  sub sp, sp, #160
  stp x19, x20, [sp]
  stp x21, x22, [sp, #16]
  stp x23, x24, [sp, #32]
  stp x25, x26, [sp, #48]
  stp x27, x28, [sp, #64]
  stp x29, x30, [sp, #80]
  stp d8,  d9,  [sp, #96]
  stp d10, d11, [sp, #112]
  stp d12, d13, [sp, #128]
  stp d14, d15, [sp, #144]
  mov x9, sp
  str x9, [x0]
  mov sp, x1
  ldp x19, x20, [sp]
  ldp x21, x22, [sp, #16]
  ldp x23, x24, [sp, #32]
  ldp x25, x26, [sp, #48]
  ldp x27, x28, [sp, #64]
  ldp x29, x30, [sp, #80]
  ldp d8,  d9,  [sp, #96]
  ldp d10, d11, [sp, #112]
  ldp d12, d13, [sp, #128]
  ldp d14, d15, [sp, #144]
  add sp, sp, #160
  ret
)" TINYMP_END);
#endif

namespace tinymp::kernels::emu::machine {

void prepare(Context& context, void* lowest, std::size_t bytes, void (*entry)()) {
  const auto end = reinterpret_cast<std::uintptr_t>(lowest) + bytes;
  auto* top = reinterpret_cast<void**>(end & ~std::uintptr_t{15});
#if defined(__x86_64__)
  // From the lowest address: six registers, the address that `ret` takes, and a word in place of entry's own
  // return address. After the `ret` the stack pointer is 8 more than a multiple of 16, as after a call.
  top -= 8;
  std::memset(top, 0, 8 * sizeof(void*));
  top[6] = reinterpret_cast<void*>(entry);
#else
  top -= 20;  // x19 .. x28, x29, x30, d8 .. d15; `ret` goes where x30 points
  std::memset(top, 0, 20 * sizeof(void*));
  top[11] = reinterpret_cast<void*>(entry);
#endif
  context.stack_pointer = top;
}

void swap(Context& from, Context& to) { tinymp_emu_swap(&from.stack_pointer, to.stack_pointer); }

}  // namespace tinymp::kernels::emu::machine

#else

namespace tinymp::kernels::emu::machine {

void prepare(Context& context, void* lowest, std::size_t bytes, void (*entry)()) {
  getcontext(&context.registers);
  context.registers.uc_stack.ss_sp = lowest;
  context.registers.uc_stack.ss_size = bytes;
  context.registers.uc_link = nullptr;
  makecontext(&context.registers, entry, 0);
}

void swap(Context& from, Context& to) { swapcontext(&from.registers, &to.registers); }

}  // namespace tinymp::kernels::emu::machine

#endif
