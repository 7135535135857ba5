#pragma once

#include <kernels/emu/block.h>

/// `__shared__ float tile[16][16];` is one array for all threads of a block. A block runs on one OS thread,
/// so a thread_local variable does the same. The sanitizers watch plain globals only, so under them the array
/// is a plain global, and one block runs at a time (launch.cpp).
///
/// Two rules. Kernels live in an anonymous namespace, because AddressSanitizer puts no red zones around
/// variables that several files may share. A static array keeps the values of the last block, as on a GPU;
/// only dynamic shared memory starts as NaN.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define __shared__ static
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define __shared__ static
#endif
#endif
#if !defined(__shared__)
#define __shared__ static thread_local
#endif

/// DYNAMIC_SHARED(float, tile); a pointer to the shared_bytes of the launch, aligned to 128.
#define DYNAMIC_SHARED(T, name) \
  T* const name = static_cast<T*>(::tinymp::kernels::emu::machine::Block::running()->shared())
