#pragma once

#include <kernels/kernels.h>

/// The CPU's side of kernels.h: the same functions, one file a family. dispatch.cpp calls them.
namespace tinymp::kernels::cpu {

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate);
void gemm_reference(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate);

void fill(const View& x, double value);
void cast(const View& x, const View& y);
void add(const View& a, const View& b, const View& y);
void accumulate(const View& x, const View& y);
void scale(const View& x, double factor, const View& y);
void broadcast(const View& scalar, double divisor, const View& y);
void add_bias(const View& x, const View& bias, const View& y);
void column_sums(const View& x, const View& y);
void unary(Unary f, const View& x, const View& y);
void unary_backward(Unary f, const View& y, const View& dy, const View& dx);
void sum(const View& x, double divisor, const View& y);

void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                   const View& loss);
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                            const View& dloss, const View& dlogits);
void mse(const View& x, const View& target, const View& loss);
void mse_backward(const View& x, const View& target, const View& dloss, const View& dx);

GradientScan scan(const View& gradients);
double sum_of_squares(const View& x, float factor);
FlushCounts count_flushed(const View& x, const View& shadow);
UpdateCounts update(const UpdateRule& rule, const UpdateArenas& arenas, float factor);

}  // namespace tinymp::kernels::cpu
