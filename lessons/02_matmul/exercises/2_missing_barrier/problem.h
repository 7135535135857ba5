#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <kernels/emu/options.h>
#include <cstdint>

/// What exercise 2.2 is asked: a product of numbers that watch who uses them, or of small whole numbers. Then
/// the request goes on with what lies in the memory of a and of b, and the answer with all that lies in that
/// of c afterwards.
namespace tinymp::exercise {

constexpr int untouched = 77;  // what c holds before

struct Problem {
  std::int32_t watched = 0;
  kernels::GemmProblem gemm;  ///< without its memory
  kernels::emu::machine::ThreadOrder order;
  std::uint64_t seed;
  std::uint64_t size_of_c;  ///< with what lies behind it
};

/// How the launch went: the answer begins with it, with a text, and with a thread that has read what nobody
/// wrote, or -1. Of numbers that watch it goes on with how often each thread has read in shared memory what
/// another one has written.
enum class Went : std::int64_t { well, into_a_race, into_an_error };

}  // namespace tinymp::exercise
