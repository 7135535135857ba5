#pragma once

#include <kernels/emu/where.h>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// Counts what a kernel asks of memory. A warp's access is one instruction of its 32 lanes. Global memory answers it in
/// sectors of 32 bytes; shared memory has 32 banks of 4 bytes, and lanes that want different words of one bank wait for
/// each other. CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared Memory and Memory Banks".
///
/// Nothing is counted until Accesses::begin(). Copies, fragments and ldmatrix report themselves; plain loads and stores
/// do in a program that was compiled to call note_access() at each of them (lessons/lab/bench/count).
/// TINYMP_UNCOUNTED is for functions of the emulation that such a program compiles, and that report by themselves.
#if defined(TINYMP_COUNTS_ACCESSES)
#define TINYMP_UNCOUNTED __attribute__((no_sanitize("thread")))
#else
#define TINYMP_UNCOUNTED
#endif

namespace tinymp::kernels::emu::machine {

#if defined(TINYMP_COUNTS_ACCESSES)
inline constexpr bool counts_accesses = true;
#else
inline constexpr bool counts_accesses = false;
#endif

struct AccessCounts {
  std::uint64_t requests = 0;   ///< accesses of warps to global memory
  std::uint64_t sectors = 0;    ///< sectors that these take
  std::uint64_t bytes = 0;      ///< bytes that their lanes use
  std::uint64_t shared = 0;     ///< accesses of warps to shared memory, one for each 128 bytes
  std::uint64_t conflicts = 0;  ///< turns that these take beyond the first
};

/// Where memory lies: [first, second).
using AddressRange = std::pair<std::uintptr_t, std::uintptr_t>;

/// Starts to count. Global memory is `global`; shared memory is `statics` and the dynamic memory of the block. Kernels then
/// have to run on one OS thread.
void count_accesses(std::vector<AddressRange> global, AddressRange statics);
/// Ends, and returns the counts.
AccessCounts counted_accesses();

/// The CUDA thread that runs reads or writes `bytes` at `address`, by the instruction `site`. The n-th time that lanes
/// come to a site counts as one access of their warp.
void note_access(const void* address, std::size_t bytes, const void* site);
/// The same for an instruction that the emulation computes: access `number` of the call at `where`.
inline void note_access(const void* address, std::size_t bytes, Where where, int number = 0) {
  note_access(address, bytes, where.file + 8 * where.line + number);
}
/// Whether `address` counts as shared memory.
bool is_shared(const void* address);

}  // namespace tinymp::kernels::emu::machine
