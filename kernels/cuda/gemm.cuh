#pragma once

#include <kernels/cuda/finish.h>
#include <kernels/cuda/float8.h>
#include <kernels/cuda/float8_mma.h>
#include <kernels/cuda/gemm/types.h>
#include <kernels/cuda/values.h>
#include <kernels/formulas/conv.h>
#include <kernels/profile.h>
#include <limits>
#include <optional>
#include <tuple>

/// gemm() of tensors: the best rung of the ladder that takes them.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// The format in which the ladder knows T. All rungs together take these; for others there is gemm_of_values.
template <class T>
inline constexpr std::optional<Format> ladder_format = std::nullopt;
template <>
inline constexpr std::optional<Format> ladder_format<float> = Format::f32;
template <>
inline constexpr std::optional<Format> ladder_format<half> = Format::f16;
template <>
inline constexpr std::optional<Format> ladder_format<tinymp::bfloat16> = Format::bf16;

std::optional<Format> ladder_format_of(const View& c) {
  return visit_dtype(c.dtype, [&]<class T> { return ladder_format<T>; });
}

GemmProblem problem_of(const View& a, Trans ta, const View& b, Trans tb, const View& c, Format format,
                       DType accumulate) {
  const auto size = [](std::int64_t n) {
    expect(n <= std::numeric_limits<int>::max(), "gemm: a size of ", n,
           " is too large for the GPU kernels, which count in 32 bits");
    return static_cast<int>(n);
  };
  return {.M = size(c.rows()),
          .N = size(c.cols()),
          .K = size(ta == Trans::no ? a.cols() : a.rows()),
          .a = a.memory,
          .b = b.memory,
          .c = c.memory,
          .lda = size(a.cols()),
          .ldb = size(b.cols()),
          .ldc = size(c.cols()),
          .ta = ta,
          .tb = tb,
          .format = format,
          .sums = accumulate == DType::f16 ? Sums::f16 : Sums::f32};
}

/// op(x) of a tensor in any format.
struct AnyOperand {
  Values x;
  std::int64_t down, right;
  template <class C>
  __device__ C get(std::int64_t row, std::int64_t col) const {
    return x.get<C>(row * down + col * right);
  }
};
AnyOperand any_operand(const View& x, Trans t) {
  return {values(x), t == Trans::no ? x.cols() : 1, t == Trans::no ? 1 : x.cols()};
}

/// The definition: a thread for each element of c. For f64, of gradient checks, and what else no rung takes.
template <class C>
__global__ void gemm_of_values(AnyOperand a, AnyOperand b, std::int64_t K, Values c, std::int64_t columns,
                               std::int64_t size, bool half_sums) {
  for (std::int64_t i = first(); i < size; i += stride()) {
    Chain<C> chain{half_sums};
    for (std::int64_t k = 0; k < K; ++k)
      chain.add_product(a.get<C>(i / columns, k), b.get<C>(k, i % columns));
    c.set(i, chain.sum);
  }
}

void run_by_definition(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  if (c.size() == 0) return;
  detail::tell_way("by definition");
  with_compute_type(c.dtype, [&]<class C> {
    launch<gemm_of_values<C>>(blocks_for(c.size()), block_threads, 0, stream(), any_operand(a, ta),
                              any_operand(b, tb), ta == Trans::no ? a.cols() : a.rows(), values(c), c.cols(),
                              c.size(), accumulate == DType::f16);
  });
}

}  // namespace

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate,
          const Epilogue& after) {
  if (!has_arithmetic(a.dtype)) {
    const Float8Sums sums(c);
    if (!gemm_float8(a, ta, b, tb, sums.view, after.float8.promote_every)) {
      const Widened wide(a, b);
      TINYMP_EXECUTOR::gemm(wide.a, ta, wide.b, tb, sums.view, DType::f32, Epilogue{});
    }
    return finish_float8(sums.view, after, c);
  }
  Epilogue rest = after;
  if (const std::optional<Format> format = ladder_format_of(c)) {
    GemmProblem problem = problem_of(a, ta, b, tb, c, *format, accumulate);
    const Rung rung = best_rung(problem, architecture());
    if (rules_of(rung).finishes) std::tie(problem.bias, problem.relu) = taken_from(rest, c);
    if (rules_of(rung).splits && may_split_sums()) problem.parts = useful_parts(problem);
    const Scratch<float> sums(problem.parts > 1 ? sums_of_parts(problem) : 0);
    problem.part_sums = sums.data();
    gemm(rung, problem, stream());
  } else {
    run_by_definition(a, ta, b, tb, c, accumulate);
  }
  finish(rest, c);
}

void gemm_reference(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  if (!has_arithmetic(a.dtype)) {
    const Widened wide(a, b);
    const Float8Sums sums(c);
    TINYMP_EXECUTOR::gemm_reference(wide.a, ta, wide.b, tb, sums.view, DType::f32);
    return TINYMP_EXECUTOR::cast(sums.view, c);
  }
  if (const std::optional<Format> format = ladder_format_of(c))
    return gemm_naive(problem_of(a, ta, b, tb, c, *format, accumulate), stream());
  run_by_definition(a, ta, b, tb, c, accumulate);
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
