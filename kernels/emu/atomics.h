#pragma once

#include <atomic>
#include <type_traits>

/// Blocks may run on several OS threads, so these are real atomics. All return the old value and, as in CUDA,
/// order no other memory. The second parameter takes any number, because the first alone decides the type.
namespace tinymp::kernels::emu {
namespace machine {

/// The types of 4 or 8 bytes that CUDA takes on every GPU since Turing.
template <class T>
concept Atomic = (std::is_integral_v<T> || std::is_floating_point_v<T>)&&(sizeof(T) == 4 || sizeof(T) == 8);

template <class T, class F>
T change(T* address, F&& next) {
  const std::atomic_ref<T> target(*address);
  T old = target.load(std::memory_order_relaxed);
  while (!target.compare_exchange_weak(old, next(old), std::memory_order_relaxed)) {
  }
  return old;
}

}  // namespace machine

/// Under ThreadSanitizer, which knows no fences, one block runs after the other (launch.cpp); and where accesses are
/// counted (accesses.h), on one OS thread.
inline void __threadfence() {
#if !defined(__SANITIZE_THREAD__) && !defined(TINYMP_COUNTS_ACCESSES)
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

template <machine::Atomic T>
T atomicAdd(T* address, std::type_identity_t<T> value) {
  return machine::change(address, [value](T old) { return old + value; });
}
template <machine::Atomic T>
T atomicSub(T* address, std::type_identity_t<T> value) {
  return machine::change(address, [value](T old) { return old - value; });
}
template <machine::Atomic T>
T atomicMax(T* address, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "CUDA has no atomicMax of floating-point numbers");
  return machine::change(address, [value](T old) { return old < value ? value : old; });
}
template <machine::Atomic T>
T atomicMin(T* address, std::type_identity_t<T> value) {
  static_assert(std::is_integral_v<T>, "CUDA has no atomicMin of floating-point numbers");
  return machine::change(address, [value](T old) { return value < old ? value : old; });
}
template <machine::Atomic T>
T atomicExch(T* address, std::type_identity_t<T> value) {
  return machine::change(address, [value](T) { return value; });
}
template <machine::Atomic T>
T atomicCAS(T* address, std::type_identity_t<T> expected, std::type_identity_t<T> value) {
  return machine::change(address, [=](T old) { return old == expected ? value : old; });
}
template <machine::Atomic T>
T atomicOr(T* address, std::type_identity_t<T> value) {
  return machine::change(address, [value](T old) { return old | value; });
}
template <machine::Atomic T>
T atomicAnd(T* address, std::type_identity_t<T> value) {
  return machine::change(address, [value](T old) { return old & value; });
}

}  // namespace tinymp::kernels::emu
