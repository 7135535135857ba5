#include <lessons/13_eight_bits/wrapped.h>
#include <limits>

namespace tinymp::lab {

Stored::Stored(std::unique_ptr<nn::Model> inner, DType format, Rounding rounding, std::uint64_t seed)
    : Wrapped(std::move(inner)),
      format_(format),
      rounding_(rounding),
      seed_(seed),
      uses_(Shape{}, DType::f64) {
  kernels::fill(uses_.view(), 0);
}

/// A number of the format never moves, whatever the rounding: a second call without an update between changes nothing.
Tensor Stored::operator()(const Tensor& images) const {
  *uses_.data<double>() += 1;
  const std::vector<Tensor> all = nn::tensors(parameters());
  for (std::size_t i = 0; i < all.size(); ++i) store(i, all[i]);
  return inner()(images);
}

void Stored::store(std::size_t i, const Tensor& p) const {
  const Tensor narrow(p.shape(), format_);
  kernels::quantize(p.view(),
                    {.rounding = rounding_, .overflow = Overflow::saturate, .seed = seed_, .tensor = i}, {},
                    uses_.view(), narrow.view());
  const bool first = before_.size() == i;
  if (first) before_.push_back(Tensor::like(p));
  const float *const updated = p.data<float>(), *const before = before_[i].data<float>();
  std::vector<bool> has_moved(static_cast<std::size_t>(p.size()));
  for (std::size_t k = 0; k < has_moved.size(); ++k) has_moved[k] = !first && updated[k] != before[k];
  kernels::cast(narrow.view(), p.view());
  for (std::size_t k = 0; k < has_moved.size(); ++k) {
    updates_ += has_moved[k];
    lost_ += has_moved[k] && updated[k] == before[k];
  }
  kernels::cast(p.view(), before_[i].view());
}

Tensor Disturbed::operator()(const Tensor& images) const {
  const Tensor y = inner()(images);
  if (Tape::current() == nullptr) return y;
  int ink = 0;
  const float* const first = images.data<float>();
  for (std::int64_t p = 0; p < images.shape()[1]; ++p) ink += first[p] > 0;
  if (ink % often_ != 0) return y;
  const Tensor same = Tensor::like(y);
  kernels::cast(y.view(), same.view());
  return record("overflow without a cause", {y}, same, [](const Tensor& dy, const Needs&) {
    const Tensor dx = Tensor::like(dy);
    kernels::fill(dx.view(), std::numeric_limits<double>::infinity());
    return std::vector<Tensor>{dx};
  });
}

}  // namespace tinymp::lab
