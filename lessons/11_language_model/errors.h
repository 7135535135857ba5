#pragma once

#include <tinymp/autograd/tape.h>
#include <tinymp/train/histogram.h>

/// The errors at the logits, the first gradients of backward: p / tokens at every word that did not follow,
/// (p - 1) / tokens at the one that did.
namespace tinymp::lab {

/// Watches a step:  LogitErrors errors; Tape tape(&errors); ...
class LogitErrors final : public Observer {
 public:
  void forward(const Op&, const std::vector<Tensor>&, const Tensor&) override {}
  void backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                const Tensor& dy, const std::vector<Tensor>& gradients) override;

  /// The share that is 0. In FP32 none is: no p is 0, and none is 1.
  double flushed() const { return train::share(zeros_, zeros_ + others_); }
  /// The share of the pushes down that is left, in sum. A softmax pushes down as much as it pushes up.
  double down_kept() const { return down_ / up_; }
  /// Sizes of the errors of the first `tokens` tokens, beside those that FP32 makes of the same logits.
  train::GradientSizes sizes(std::span<const std::int32_t> targets, std::int64_t tokens, double scale) const;

 private:
  Tensor logits_, errors_;  ///< (B T,V)
  std::int64_t zeros_ = 0, others_ = 0;
  double down_ = 0, up_ = 0;
};

}  // namespace tinymp::lab
