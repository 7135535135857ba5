#pragma once

#include <kernels/cuda/cuda.h>
#include <kernels/cuda/gemm/ladder.h>
#include <tinymp/base/error.h>
#include <cmath>
#include <cstdint>
#include <type_traits>

/// What all rungs share: from the run-time formats of a problem to C++ types, and conversions.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// Rounded to nearest even. There is one NaN in this library, and CUDA has another.
template <class T>
__device__ inline T narrow(float x) {
  if constexpr (std::is_same_v<T, __half>) {
    if (x != x) return std::bit_cast<__half>(std::uint16_t{0x7e00});
  } else if constexpr (std::is_same_v<T, __nv_bfloat16>) {
    if (x != x) return std::bit_cast<__nv_bfloat16>(std::uint16_t{0x7fc0});
  }
  return static_cast<T>(x);
}

/// One step of the chain: a b is exact inside the fma; the sum rounds once to FP32 and, when it is kept in
/// FP16, once more to that.
template <class T, class Sum>
__device__ inline Sum multiply_add(T a, T b, Sum sum) {
  return narrow<Sum>(std::fma(static_cast<float>(a), static_cast<float>(b), static_cast<float>(sum)));
}

/// op(x): element (row, col), wherever it lies.
template <class T>
struct Operand {
  const T* data;
  std::int64_t down, right;  // from one row to the next, from one column to the next

  __device__ T operator()(int row, int col) const { return data[row * down + col * right]; }
};
template <class T>
Operand<T> operand(const void* data, int ld, Trans t) {
  return {static_cast<const T*>(data), t == Trans::no ? ld : 1, t == Trans::no ? 1 : ld};
}

/// Blocks of `tile` that cover `size`.
inline unsigned blocks(int size, int tile) {
  return (static_cast<unsigned>(size) + static_cast<unsigned>(tile) - 1) / static_cast<unsigned>(tile);
}

template <class T>
struct Type {
  using type = T;
};

/// Calls run(Type<T>, Type<Sum>) for operands of 16 bits.
template <class Run>
void with_16_bit_types(const GemmProblem& p, Run&& run) {
  if (p.format == Format::f16 && p.sums == Sums::f32) return run(Type<__half>(), Type<float>());
  if (p.format == Format::f16 && p.sums == Sums::f16) return run(Type<__half>(), Type<__half>());
  if (p.format == Format::bf16 && p.sums == Sums::f32) return run(Type<__nv_bfloat16>(), Type<float>());
  throw Error(
      concat("gemm: no tensor core multiplies ", name_of(p.format), " with sums in ", name_of(p.sums)));
}

/// Calls run(Type<T>, Type<Sum>) for all formats.
template <class Run>
void with_types(const GemmProblem& p, Run&& run) {
  if (p.format == Format::f32 && p.sums == Sums::f32) return run(Type<float>(), Type<float>());
  if (p.format == Format::f32 && p.sums == Sums::f16) return run(Type<float>(), Type<__half>());
  with_16_bit_types(p, run);
}

/// Calls run(Type<LayoutA>, Type<LayoutB>): a transposed matrix that lies row by row is one column by column.
template <class Run>
void with_layouts(const GemmProblem& p, Run&& run) {
  using Rows = Type<nvcuda::wmma::row_major>;
  using Columns = Type<nvcuda::wmma::col_major>;
  if (p.ta == Trans::no) {
    p.tb == Trans::no ? run(Rows(), Rows()) : run(Rows(), Columns());
  } else {
    p.tb == Trans::no ? run(Columns(), Rows()) : run(Columns(), Columns());
  }
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
