#include <kernels/kernels.h>
#include <tinymp/train/accumulate.h>

namespace tinymp::train {
namespace {

/// The mean of some losses.
class MeanLoss {
 public:
  /// `share` of all samples are of this loss; the shares add up to 1.
  void add(const Tensor& loss, double share) {
    if (share == 1) {
      mean_ = loss;
      return;
    }
    const Tensor part = Tensor::like(loss);
    kernels::scale(loss.view(), share, part.view());
    if (mean_)
      kernels::accumulate(part.view(), mean_.view());
    else
      mean_ = part;
  }
  const Tensor& value() const { return mean_; }

 private:
  Tensor mean_;
};

}  // namespace

// <exercise accumulate>
Accumulated accumulate(std::span<const std::int64_t> sizes, Device device, LossScaler& scaler,
                       const BackwardOf& backward_of) {
  const auto usual = static_cast<double>(sizes[0]);
  double samples = 0;
  for (const std::int64_t size : sizes) samples += static_cast<double>(size);
  MeanLoss loss;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = static_cast<double>(sizes[i]);
    const Tensor seed = scaler.seed(device, size / usual);
    loss.add(backward_of(static_cast<std::int64_t>(i), seed), size / samples);
  }
  return {loss.value(), samples / usual};
}
// </exercise accumulate>

}  // namespace tinymp::train
