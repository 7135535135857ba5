#pragma once

#include <kernels/emu/block.h>

/// `__shared__ float tile[16][16];` is one array for all threads of a block. A block runs on one OS thread,
/// so a variable of that OS thread is just that. The sanitizers watch plain globals only; for them it is one,
/// and one block runs at a time (launch.cpp).
///
/// Two rules. Kernels live in an anonymous namespace: AddressSanitizer puts no red zones around what several
/// files may share. And a static array holds what the last block left there, as on a GPU; only dynamic shared
/// memory starts as NaN.
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

/// DYNAMIC_SHARED(float, tile);  a pointer to what the launch gave in bytes, aligned to 128.
#define DYNAMIC_SHARED(T, name) \
  T* const name = static_cast<T*>(::tinymp::kernels::emu::machine::Block::running()->shared())
