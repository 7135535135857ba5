#pragma once

#include <kernels/formulas.h>
#include <tinymp/tensor/view.h>
#include <cstdint>
#include <span>

/// Every kernel: a free function, views in, views out. No kernel allocates its output, records on a tape or
/// knows a model. 16-bit values are widened, computed on in FP32 and rounded once as they are stored; f64
/// stays f64. Callers have checked shapes and formats: the ops do.
namespace tinymp::kernels {

enum class Trans : bool { no, yes };

/// c = op(a) . op(b)      op(a):(M,K)  op(b):(K,N)  c:(M,N); op transposes where asked.
/// Each element of c is a chain of fused multiply-adds over k = 0, 1, ..., K-1 that starts at +0, so its bits
/// do not depend on threads, blocking or vector width. `accumulate` is the format of the running sum: f32, or
/// f16, where every step of the chain is rounded to half. a, b and c share a format; f64 accumulates in f64.
void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate);

/// The same by the definition, in a few lines: what lesson 02 shows, and the oracle of the fast one.
void gemm_reference(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate);

void fill(const View& x, double value);                         ///< x = value
void cast(const View& x, const View& y);                        ///< y = x, rounded to y's format
void add(const View& a, const View& b, const View& y);          ///< y = a + b
void accumulate(const View& x, const View& y);                  ///< y = y + x; formats may differ
void scale(const View& x, double factor, const View& y);        ///< y = factor x
void add_bias(const View& x, const View& bias, const View& y);  ///< y:(B,O) = x:(B,O) + bias:(O)
void column_sums(const View& x, const View& y);                 ///< y:(O) = sum over b of x:(B,O), in FP32
void unary(Unary f, const View& x, const View& y);              ///< y = f(x)
void unary_backward(Unary f, const View& y, const View& dy,
                    const View& dx);  ///< dx = f'(x) dy, out of y = f(x)

/// y:() = the sum of all values / divisor, in f32, or f64 of f64. 16 lanes and a fixed tree within fixed
/// chunks: the same bits for any number of threads.
void sum(const View& x, double divisor, const View& y);
void broadcast(const View& scalar, double divisor, const View& y);  ///< every y = scalar / divisor

/// loss:() f32 = mean over the batch of  log sum exp(logits) - logits[label];  row_log_sum:(B) is kept for
/// backward.
void cross_entropy(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                   const View& loss);
/// dlogits:(B,C) = (softmax - one at the label) dloss / B, rounded once.
void cross_entropy_backward(const View& logits, std::span<const std::int32_t> labels, const View& row_log_sum,
                            const View& dloss, const View& dlogits);

/// loss:() f32 = mean of (x - target)^2;  target is f32 (f64 with f64).
void mse(const View& x, const View& target, const View& loss);
void mse_backward(const View& x, const View& target, const View& dloss, const View& dx);

// The optimizer's two passes over its flat arenas.
// --------------------------------------------------------------------

/// What a pass over the gradients finds. Exact counts.
struct GradientScan {
  std::int64_t values = 0;
  std::int64_t nonfinite = 0;
  std::int64_t zeros = 0;
  std::int64_t subnormals = 0;  ///< not zero, below the smallest normal number of the format

  GradientScan& operator+=(const GradientScan& other) {
    values += other.values;
    nonfinite += other.nonfinite;
    zeros += other.zeros;
    subnormals += other.subnormals;
    return *this;
  }
};
GradientScan scan(const View& gradients);

/// The sum of squares of factor x, in f64: for clipping by norm.
double sum_of_squares(const View& x, float factor);

/// What the narrow format flushed. Where the shadow is zero too, nothing was lost.
struct FlushCounts {
  std::int64_t values = 0;   ///< not zero in the shadow
  std::int64_t flushed = 0;  ///< of those: zero in x

  FlushCounts& operator+=(const FlushCounts& other) {
    values += other.values;
    flushed += other.flushed;
    return *this;
  }
};
FlushCounts count_flushed(const View& x, const View& shadow);

/// The arenas of one optimizer. `master` is the same memory as `weights` when there is no master copy.
struct UpdateArenas {
  View weights;  ///< compute format: what the model reads
  View master;   ///< what is updated
  View gradients;
  View moments[2];  ///< as many as the rule has
};

/// Updates that did not change a weight, out of those that were not zero in FP32.
struct UpdateCounts {
  std::int64_t values = 0;       ///< updates not zero in FP32
  std::int64_t underflowed = 0;  ///< zero when rounded to the master's format
  std::int64_t absorbed = 0;     ///< not zero, but weight - update rounds back to the weight

  UpdateCounts& operator+=(const UpdateCounts& other) {
    values += other.values;
    underflowed += other.underflowed;
    absorbed += other.absorbed;
    return *this;
  }
};

/// One pass: gradient times factor, moments, update u = rule(...), then  master = round(master - round(u)) in
/// the master's own format, then weights = round(master). With an f32 master the inner rounding changes
/// nothing; with f16 it is what FP16 hardware does: lr x g rounds, and so does the subtraction.
UpdateCounts update(const UpdateRule& rule, const UpdateArenas& arenas, float factor);

}  // namespace tinymp::kernels
