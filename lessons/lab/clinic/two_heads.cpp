#include <kernels/kernels.h>
#include <lessons/lab/clinic/two_heads.h>
#include <tinymp/ops/ops.h>

namespace tinymp::clinic {

namespace {

Tensor zeros_like(const Tensor& x) {
  const Tensor zeros(x.shape(), x.dtype());
  kernels::fill(zeros.view(), 0);
  return zeros;
}

/// The logits as they are. Backward gives the head that rests gradients of 0: no product runs for it.
Tensor with_zero_gradients(const Tensor& logits, const nn::Linear& rests) {
  const Tensor y(logits.shape(), logits.dtype());
  kernels::cast(logits.view(), y.view());
  return record("one head", {logits, rests.weight, rests.bias}, y, [rests](const Tensor& dy, const Needs&) {
    return std::vector{dy, zeros_like(rests.weight), zeros_like(rests.bias)};
  });
}

}  // namespace

TwoHeads::TwoHeads(const std::vector<std::int64_t>& widths, const Recipe& recipe, Rng& rng)
    : widths_(widths),
      body_(widths.at(0), widths.at(1), recipe, rng),
      first_head_(widths.at(1), widths.at(2), recipe, rng),
      second_head_(widths.at(1), widths.at(2), recipe, rng) {}

Tensor TwoHeads::operator()(const Tensor& images) const {
  const nn::Linear &runs = second_ ? second_head_ : first_head_,
                   &rests = second_ ? first_head_ : second_head_;
  const Tensor x = cast(images, body_.weight.dtype());
  return with_zero_gradients(runs(body_(x, Activation::relu)), rests);
}

std::vector<nn::Parameter> TwoHeads::parameters() const {
  std::vector<nn::Parameter> all = body_.parameters("layer 1");
  nn::append(all, {first_head_.parameters("first head"), second_head_.parameters("second head")});
  return all;
}

std::string TwoHeads::name() const {
  return concat("two heads ", widths_[0], "-", widths_[1], "-", widths_[2]);
}

}  // namespace tinymp::clinic
