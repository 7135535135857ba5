#pragma once

#include <tinymp/autograd/tape.h>
#include <tinymp/numeric/accumulation.h>
#include <tinymp/tensor/indices.h>
#include <cstdint>
#include <optional>
#include <span>

/// Every public op. Capital letters are dimensions: B batch, I inputs, O outputs, C classes or channels;
/// images have H rows and W columns.
///
/// The inputs of an op share a format, or the op throws Error naming the op, the shapes and the formats. Only
/// cast() changes a format, and only autocast inserts it. Ops compute 16-bit values in FP32 and round once
/// when they store. Losses and sums over a whole tensor are FP32 (f64 for
/// f64), because FP16 cannot hold them.
namespace tinymp {

struct MatmulOptions {
  DType accumulate = DType::f32;  ///< the running sum, forward and backward; f64 tensors always use f64
};

Tensor matmul(const Tensor& x, const Tensor& w, MatmulOptions options = {});  ///< (B,O) = (B,I)(I,O)

/// (B,O) = (B,I)(O,I)^T: the logits of words whose embedding table (O,I) is w. No recipe makes
/// its operands FP8.
Tensor matmul_transposed(const Tensor& x, const Tensor& w, MatmulOptions options = {});

/// The activations of a fused pass. log and gelu are none: their derivatives need the
/// input, which the pass does not keep.
enum class Activation : std::uint8_t { relu, sigmoid, tanh, exp };
struct LinearOptions {
  DType accumulate = DType::f32;
  std::optional<Activation> activation{};
};
/// (B,O) = activation((B,I)(I,O) + (O)): matmul, add_bias and the activation in one pass. It rounds after
/// each of the three, so it gives the same bits as the three ops.
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& bias, LinearOptions options = {});

Tensor add_bias(const Tensor& x, const Tensor& bias);  ///< (...,O) = (...,O) + (O), 2 dimensions and up
Tensor add(const Tensor& a, const Tensor& b);          ///< a + b, equal shapes
Tensor subtract(const Tensor& a, const Tensor& b);     ///< a - b, equal shapes
Tensor multiply(const Tensor& a, const Tensor& b);     ///< a b, value by value, equal shapes
Tensor scale(const Tensor& x, float factor);           ///< factor x
Tensor scale(const Tensor& x, const Tensor& factor);  ///< the same; factor:() is data, f32 (f64 for an f64 x)

Tensor relu(const Tensor& x);     ///< max(x, 0); NaN stays NaN
Tensor sigmoid(const Tensor& x);  ///< 1 / (1 + exp(-x))
Tensor tanh(const Tensor& x);
Tensor exp(const Tensor& x);  ///< e^x, infinite above 11.09 in FP16, above 88.7 in FP32
Tensor log(const Tensor& x);  ///< the natural logarithm; -infinity at 0, NaN below
/// x P(X <= x) for a normal X: the exact form, which is PyTorch's default. The error of ours is in numeric/gelu.h. Hendrycks
/// and Gimpel 2016 (arXiv 1606.08415), section 2. gelu(-infinity) = -0. (PyTorch: NaN.)
Tensor gelu(const Tensor& x);

// The parts of a softmax over the rows of x:(B,C). Each op stores its result in the format of x. So in FP16
// exp(x), the sum and the quotients are each rounded and may overflow.

/// (B) the largest value of each row; a NaN counts as largest. The gradient goes to the place of that value,
/// the first among equals or NaNs.
Tensor row_max(const Tensor& x);
/// (B) the sum of each row; `sums` sets the format and order. f64 tensors always use f64.
Tensor row_sum(const Tensor& x, Accumulation sums = {});
Tensor subtract_rows(const Tensor& x, const Tensor& by);  ///< (B,C) = (B,C) - (B)
Tensor divide_rows(const Tensor& x, const Tensor& by);    ///< (B,C) = (B,C) / (B)
/// (B) the value of each row at its label. labels: B numbers in 0 .. C-1. Throws Error for any other label,
/// and for B = 0.
Tensor pick(const Tensor& x, std::span<const std::int32_t> labels);

/// (B,C) exp(x) / sum over c of exp(x), and its logarithm. Computed in FP32 and rounded once. The largest
/// value of a row is subtracted first, so that nothing overflows.
Tensor softmax(const Tensor& x);
Tensor log_softmax(const Tensor& x);

struct BatchNormOptions {
  Accumulation sums{};  ///< over the batch, forward and backward; f64 tensors always use f64
  float epsilon = 1e-5f;
};
struct BatchStatistics {
  Tensor mean, variance;  ///< (O), FP32 (f64 for f64); the variance divides by B
};

/// (B,O) from (B,O), gamma (O) and beta (O): each column minus its mean over the batch, divided by its
/// deviation, then gamma times that plus beta. Images (B,H,W,O) count as B H W rows; at least 2 rows are
/// needed. Gamma and beta have x's format, or are FP32 with a 16-bit x. `found` receives the mean and the
/// variance. Ioffe and Szegedy 2015 (arXiv 1502.03167), algorithm 1.
Tensor batch_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, BatchNormOptions options = {},
                  BatchStatistics* found = nullptr);

struct LayerNormOptions {
  Accumulation sums{};  ///< along a row, and in backward also down the batch; f64 tensors always use f64
  float epsilon = 1e-5f;
};

/// (B,O) from (B,O), gamma (O) and beta (O): each row minus its mean, divided by its deviation, then gamma
/// times that plus beta. Images (B,H,W,O) count as B H W rows. FP32 values above 1.8e19 have squares that
/// overflow: then the variance is infinite, the row becomes beta, and its gradient 0. (PyTorch: NaN.) Ba,
/// Kiros and Hinton 2016 (arXiv 1607.06450), section 3.
Tensor layer_norm(const Tensor& x, const Tensor& gamma, const Tensor& beta, LayerNormOptions options = {});

/// Each value, even a NaN, becomes 0 with probability p in [0, 1); the others are divided by 1 - p. The
/// choice depends on seed, step and place alone, so it is the same on every device, and in backward. step:()
/// is data, a whole number in f64. It lies on the device of x, so no call waits
/// for a GPU. Srivastava et al. 2014.
Tensor dropout(const Tensor& x, float p, std::uint64_t seed, const Tensor& step);

struct AttentionOptions {
  std::int64_t heads = 1;
  bool causal = false;  ///< token t sees the tokens 0 .. t of its text; then S = T
  /// B numbers in 0 .. S: the places of each text that are no padding, its first ones. Without: all. What a row does not
  /// see of k and v, padding or later tokens, must be finite too: its share is 0, and 0 times infinity is NaN.
  std::optional<Indices> lengths{};
  float dropout = 0;       ///< of the probabilities: as in dropout(), by their place in (B,H,T,S)
  std::uint64_t seed = 0;  ///< for dropout, as is the step
  Tensor step{};
};

/// (B,T,H D) scaled dot-product attention of the queries (B,T,H D) to the keys and values (B,S,H D). Head h has the columns
/// h D .. h D + D of each. For every head of every text:
///   scores = q . k^T / sqrt D          (T,S), kept in FP32: in FP16 a score above 65504 would be infinite
///   p = softmax of what a row sees     (T,S), in FP32, stored in the format of q for backward; 0 where it does not see
///   y = dropout(p) . v                 (T,D)
/// A row that sees nothing gives 0, and its gradient is 0. (PyTorch: NaN.) The products keep their sums in FP32 (f64 of
/// f64) under every recipe, and are not converted to FP8. Vaswani et al. 2017 (arXiv 1706.03762), section 3.2.1.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, AttentionOptions options = {});

/// (B,T,W) = (B,T,W) + the first T rows of the table (P,W): learned positions. The gradient of a row is the sum over the
/// texts. Gehring et al. 2017 (arXiv 1705.03122), section 3.1.
Tensor add_positions(const Tensor& x, const Tensor& table);

struct Conv2dOptions {
  std::int64_t stride = 1, padding = 0;  ///< pixels; the padding is zeros, on all sides
  DType accumulate = DType::f32;         ///< the running sum, as for matmul
};

/// (B,Ho,Wo,O) from images (B,H,W,I) and w (kh,kw,I,O): y[b,i,j] = sum over all (m,n) of the window of
/// x[b, i stride + m - padding, j stride + n - padding] . w[m,n];  Ho = (H + 2 padding - kh) / stride + 1,
/// rounded down. The sum skips the zeros above and below an image and includes those beside it, which matters
/// for an infinite weight.
Tensor conv2d(const Tensor& x, const Tensor& w, Conv2dOptions options = {});
/// The same plus bias (O), with the bits of add_bias.
Tensor conv2d(const Tensor& x, const Tensor& w, const Tensor& bias, Conv2dOptions options = {});

/// (B,Ho,Wo,C) from (B,H,W,C): the largest value (a NaN counts as largest) or the mean of each window.
/// Windows have size x size pixels and are `stride` apart; Ho = (H - size) / stride + 1, rounded down. The
/// gradient of the largest goes to its place, the first among equals or NaNs. (PyTorch: the last NaN.)
Tensor max_pool2d(const Tensor& x, std::int64_t size, std::int64_t stride);
Tensor avg_pool2d(const Tensor& x, std::int64_t size, std::int64_t stride);
Tensor global_avg_pool2d(const Tensor& x);  ///< (B,C) from (B,H,W,C): the mean over all pixels

/// (B,Ho,Wo,channels) from (B,H,W,C): every stride-th pixel down and across from the first, its channels
/// followed by zeros. It is the shortcut without weights (A) of He et al. 2015
/// (arXiv 1512.03385), section 3.3.
Tensor subsample(const Tensor& x, std::int64_t stride, std::int64_t channels);

/// (N,D) the rows of table (V,D) for N tokens, numbers in 0 .. V-1. The gradient of a row is the sum over the
/// places of its token, from the first to the last, in FP32, rounded once.
Tensor embedding(const Tensor& table, std::span<const std::int32_t> tokens);

Tensor columns(const Tensor& x, std::int64_t from, std::int64_t count);  ///< (B,count) from (B,O)
Tensor concat_columns(const std::vector<Tensor>& parts);  ///< (B, sum of O) from several (B,O), side by side

Tensor cast(const Tensor& x, DType dtype);     ///< rounded to nearest even; the gradient is cast back
Tensor reshape(const Tensor& x, Shape shape);  ///< the same values in the same order, sharing memory

Tensor sum(const Tensor& x);   ///< () the sum of all values
Tensor mean(const Tensor& x);  ///< () the mean of all values; throws Error when there are none, as losses do

/// () the mean over the batch of -log softmax(logits)[label]. It is fused, so that no exp overflows and no
/// log gets a zero: right to 1e-6 for FP32 logits of any size. logits:(B,C), labels: B numbers in 0 .. C-1.
/// Throws Error for any other label, and for an empty batch. (PyTorch's loss of an empty batch is NaN, and it
/// ignores the label -100.)
Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> labels);

/// () the mean over all values of (x - target)^2. The target is data in f32 (f64
/// for an f64 x) and gets no gradient.
Tensor mse(const Tensor& x, const Tensor& target);

/// The same ops for labels and tokens that lie on the device of the tensor already: they copy nothing there.
namespace resident {
Tensor embedding(const Tensor& table, const Indices& tokens);
Tensor cross_entropy(const Tensor& logits, const Indices& labels);
}  // namespace resident

}  // namespace tinymp
