#pragma once

#include <kernels/cuda/values.h>

/// What the kernels for FP8 (float8.cuh) do for products.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// y = x where at least one of the two is FP8, rounded to nearest even; an overflow becomes infinity, in E4M3 NaN.
void cast_float8(const View& x, const View& y);

/// c = round(f(factor sums + bias)): the epilogue of a product of FP8 operands, out of its sums in f32. c may be
/// `sums` itself.
void finish_float8(const View& sums, const Epilogue& after, const View& c);

/// The sums of a product in f32: c itself, or memory beside it.
struct Float8Sums {
  explicit Float8Sums(const View& c)
      : memory(c.dtype == DType::f32 ? 0 : c.size()),
        view{c.dtype == DType::f32 ? c.memory : memory.data(), DType::f32, c.device, c.shape} {}

  Scratch<float> memory;
  View view;
};

/// The operands of a product that runs in f32, which holds every number of FP8.
struct Widened {
  Widened(const View& a, const View& b)
      : a_memory(a.size()),
        b_memory(b.size()),
        a{a_memory.data(), DType::f32, a.device, a.shape},
        b{b_memory.data(), DType::f32, b.device, b.shape} {
    cast_float8(a, this->a);
    cast_float8(b, this->b);
  }

  Scratch<float> a_memory, b_memory;
  View a, b;
};

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
