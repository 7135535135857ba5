#include <kernels/kernels.h>
#include <tinymp/ops/check.h>
#include <tinymp/ops/ops.h>

namespace tinymp {
namespace {

/// Labels where a kernel finds them: beside the logits.
class Labels {
 public:
  Labels(std::span<const std::int32_t> labels, Device device)
      : memory_(std::make_shared<Storage>(labels.size_bytes(), device)), count_(labels.size()) {
    allocator(device).copy_in(memory_->data(), labels.data(), labels.size_bytes());
  }
  std::span<const std::int32_t> view() const {
    return {reinterpret_cast<const std::int32_t*>(memory_->data()), count_};
  }

 private:
  std::shared_ptr<Storage> memory_;
  std::size_t count_;
};

}  // namespace

//   y = mean over b of  log sum_c exp(x[b,c]) - x[b,label[b]]
//  dx = (softmax(x) - one at the label) dy / B
Tensor cross_entropy(const Tensor& logits, std::span<const std::int32_t> labels) {
  expect(logits.shape().rank() == 2 && logits.shape()[0] == static_cast<std::int64_t>(labels.size()) &&
             !labels.empty(),
         "cross_entropy: ", labels.size(), " labels for logits of shape ", logits.shape(),
         "; they are (B,C)");
  for (const std::int32_t label : labels) {
    expect(label >= 0 && label < logits.shape()[1], "cross_entropy: label ", label, " is not one of the ",
           logits.shape()[1], " classes");
  }
  const DType format = wide(logits.dtype());
  Tensor row_log_sum({logits.shape()[0]}, format, logits.device());
  Tensor loss(Shape{}, format, logits.device());
  const Labels kept(labels, logits.device());
  kernels::cross_entropy(logits.view(), kept.view(), row_log_sum.view(), loss.view());
  return record("cross_entropy", {logits}, loss, [logits, row_log_sum, kept](const Tensor& dy, const Needs&) {
    Tensor dx(logits.shape(), logits.dtype(), logits.device());
    kernels::cross_entropy_backward(logits.view(), kept.view(), row_log_sum.view(), dy.view(), dx.view());
    return std::vector{dx};
  });
}

//   y = mean of (x - target)^2
//  dx = 2 (x - target) dy / size
Tensor mse(const Tensor& x, const Tensor& target) {
  expect_same_shape("mse", x, target);
  expect_same_device("mse", x, target);
  expect(target.dtype() == wide(x.dtype()), "mse: the target of a ", x.dtype(), " prediction is ",
         wide(x.dtype()), ", not ", target.dtype());
  expect(x.size() > 0, "mse: a tensor of shape ", x.shape(), " has no values");
  Tensor loss(Shape{}, wide(x.dtype()), x.device());
  kernels::mse(x.view(), target.view(), loss.view());
  return record("mse", {x}, loss, [x, target](const Tensor& dy, const Needs&) {
    Tensor dx(x.shape(), x.dtype(), x.device());
    kernels::mse_backward(x.view(), target.view(), dy.view(), dx.view());
    return std::vector{dx};
  });
}

}  // namespace tinymp
