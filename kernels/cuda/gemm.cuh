#pragma once

#include <kernels/cuda/gemm/types.h>
#include <kernels/cuda/values.h>
#include <limits>

/// gemm() of tensors: the best rung of the ladder that takes them.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

GemmProblem problem_of(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  const auto size = [](std::int64_t n) {
    expect(n <= std::numeric_limits<int>::max(), "gemm: a size of ", n,
           " is too large for the GPU kernels, which count in 32 bits");
    return static_cast<int>(n);
  };
  const Format format = c.dtype == DType::f16    ? Format::f16
                        : c.dtype == DType::bf16 ? Format::bf16
                                                 : Format::f32;
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

/// Gradient checks want f64; no rung of the ladder is made for it.
__global__ void gemm_in_f64(Operand<double> a, Operand<double> b, int K, double* c, std::int64_t columns,
                            std::int64_t size) {
  for (std::int64_t i = first(); i < size; i += stride()) {
    const int m = static_cast<int>(i / columns), n = static_cast<int>(i % columns);
    double sum = 0;
    for (int k = 0; k < K; ++k) sum = std::fma(a(m, k), b(k, n), sum);
    c[i] = sum;
  }
}

void run_f64(const View& a, Trans ta, const View& b, Trans tb, const View& c) {
  if (c.size() == 0) return;
  const GemmProblem p = problem_of(a, ta, b, tb, c, DType::f64);
  launch<gemm_in_f64>(blocks_for(c.size()), block_threads, 0, stream(), operand<double>(p.a, p.lda, ta),
                      operand<double>(p.b, p.ldb, tb), p.K, c.data<double>(), c.cols(), c.size());
}

}  // namespace

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate,
          const Epilogue& after) {
  if (c.dtype == DType::f64) {
    run_f64(a, ta, b, tb, c);
  } else {
    const GemmProblem problem = problem_of(a, ta, b, tb, c, accumulate);
    gemm(best_rung(problem, architecture()), problem, stream());
  }
  if (after.bias.memory != nullptr) TINYMP_EXECUTOR::add_bias(c, after.bias, c);
  if (after.activation) TINYMP_EXECUTOR::unary(*after.activation, c, c);
}

void gemm_reference(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  if (c.dtype == DType::f64) return run_f64(a, ta, b, tb, c);
  gemm_naive(problem_of(a, ta, b, tb, c, accumulate), stream());
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
