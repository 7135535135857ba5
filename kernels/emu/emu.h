#pragma once

/// CUDA kernels on the CPU. A kernel is ordinary CUDA C++; these headers define its words, and g++ or clang++
/// compiles it. Read them in this order:
///
///   context.h      how one OS thread leaves a function half way and comes back
///   fiber.h        a stack of its own for each CUDA thread
///   block.h        the threads of a block take turns
///   rendezvous.h   how they wait for each other: the one primitive, from which the next three are made
///   barrier.h      __syncthreads, __syncwarp
///   warp.h         shuffles and votes
///   wmma.h, ptx.h  tensor cores; their arithmetic is in tensor_core.h
///   chip.h         which GPU's tensor cores they are
///   index.h  shared.h  atomics.h  async_copy.h  numbers.h  keywords.h  memory.h   the rest of the language
///   launch.h       the grid
///
/// The emulation finds threads that do not meet (an Error that names both places), copies without a wait
/// (NaN, and an Error), results that depend on the order of threads (options.h), writes outside of an array
/// (after the kernel; with AddressSanitizer at once, with the line), races (with ThreadSanitizer, both
/// lines). It cannot show coalescing, bank conflicts, occupancy, or races between blocks, which run one after
/// the other on an OS thread. A thread that spins until another one writes waits for ever.
#include <kernels/emu/async_copy.h>
#include <kernels/emu/atomics.h>
#include <kernels/emu/barrier.h>
#include <kernels/emu/index.h>
#include <kernels/emu/keywords.h>
#include <kernels/emu/launch.h>
#include <kernels/emu/numbers.h>
#include <kernels/emu/shared.h>
#include <kernels/emu/warp.h>
#include <kernels/emu/wmma.h>
