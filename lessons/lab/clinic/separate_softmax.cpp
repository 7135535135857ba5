#include <lessons/lab/clinic/separate_softmax.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>

namespace tinymp::clinic {
namespace {

using Floats = std::vector<float>;

Tensor like(const Tensor& x, const Floats& values) { return Tensor::from(x.shape(), values, x.dtype()); }

//   p = exp(x - max) / sum exp(x - max)      (B,C), in FP32 inside, as GPUs do
//  dx = p (dp - sum_c dp p)
Tensor softmax(const Tensor& x) {
  const auto classes = static_cast<std::size_t>(x.shape()[1]);
  Floats p = x.to_floats();
  for (std::size_t row = 0; row < p.size(); row += classes) {
    const float most = *std::max_element(&p[row], &p[row] + classes);
    float sum = 0;
    for (std::size_t c = row; c < row + classes; ++c) sum += p[c] = exp(p[c] - most);
    for (std::size_t c = row; c < row + classes; ++c) p[c] /= sum;
  }
  const Tensor y = like(x, p);
  return record("softmax", {x}, y, [x, y, classes](const Tensor& dy, const Needs&) {
    const Floats out = y.to_floats(), dp = dy.to_floats();
    Floats dx(out.size());
    for (std::size_t row = 0; row < out.size(); row += classes) {
      float dot = 0;
      for (std::size_t c = row; c < row + classes; ++c) dot += dp[c] * out[c];
      for (std::size_t c = row; c < row + classes; ++c) dx[c] = out[c] * (dp[c] - dot);
    }
    return std::vector{like(x, dx)};
  });
}

Tensor log_of(const Tensor& x) {
  Floats y = x.to_floats();
  for (float& v : y) v = log(v);
  return record("log", {x}, like(x, y), [x](const Tensor& dy, const Needs&) {
    Floats dx = dy.to_floats();
    const Floats in = x.to_floats();
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] /= in[i];
    return std::vector{like(x, dx)};
  });
}

/// Minus the mean of the values at the labels, in FP32.
Tensor negative_mean(const Tensor& x, std::vector<std::int32_t> labels) {
  const auto classes = static_cast<std::size_t>(x.shape()[1]);
  const auto at = [=](std::size_t b) { return b * classes + static_cast<std::size_t>(labels[b]); };
  const Floats in = x.to_floats();
  const auto count = static_cast<float>(labels.size());
  float sum = 0;
  for (std::size_t b = 0; b < labels.size(); ++b) sum -= in[at(b)];
  const Tensor loss = Tensor::from(Shape{}, Floats{sum / count});
  return record("mean", {x}, loss, [x, at, count](const Tensor& dy, const Needs&) {
    Floats dx(static_cast<std::size_t>(x.size()), 0.0f);
    for (std::size_t b = 0; b < static_cast<std::size_t>(x.shape()[0]); ++b)
      dx[at(b)] = static_cast<float>(-dy.item()) / count;
    return std::vector{like(x, dx)};
  });
}

}  // namespace

Tensor separate_softmax_loss(const Tensor& logits, std::span<const std::int32_t> labels) {
  return negative_mean(log_of(softmax(logits)), {labels.begin(), labels.end()});
}

}  // namespace tinymp::clinic
