#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <kernels/emu/options.h>
#include <cstdint>

/// What exercise 2.1 is asked: sizes and layouts, followed by what lies in the memory of a and of b, small
/// whole numbers. The answer is how many times tensor cores have multiplied two tiles, and all that lies in
/// the memory of c afterwards.
namespace tinymp::exercise {

constexpr int untouched = 77;  // what c holds before

struct Problem {
  kernels::GemmProblem gemm;  ///< without its memory
  kernels::emu::machine::ThreadOrder order;
  std::uint64_t size_of_c;  ///< with what lies behind it
};

}  // namespace tinymp::exercise
