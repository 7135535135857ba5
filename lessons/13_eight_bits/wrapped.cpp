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

/// On the CPU, wherever the model lies: no graph is made of these steps.
void Stored::store(std::size_t i, const Tensor& p) const {
  const Tensor updated = p.to(Device::cpu), narrow(p.shape(), format_), kept = Tensor::like(updated);
  kernels::quantize(updated.view(),
                    {.rounding = rounding_, .overflow = Overflow::saturate, .seed = seed_, .tensor = i}, {},
                    uses_.view(), narrow.view());
  kernels::cast(narrow.view(), kept.view());
  if (before_.size() == i) {
    before_.push_back(kept);
  } else {
    count(updated, before_[i], kept);
    before_[i] = kept;
  }
  kernels::cast(kept.to(p.device()).view(), p.view());
}

void Stored::count(const Tensor& updated, const Tensor& before, const Tensor& kept) const {
  const float *const u = updated.data<float>(), *const b = before.data<float>(),
                     *const k = kept.data<float>();
  for (std::int64_t n = 0; n < updated.size(); ++n) {
    updates_ += u[n] != b[n];
    lost_ += u[n] != b[n] && k[n] == b[n];
  }
}

Tensor Disturbed::operator()(const Tensor& images) const {
  const Tensor y = inner()(images);
  if (Tape::current() == nullptr) return y;
  int ink = 0;
  const Tensor here = images.to(Device::cpu);
  const float* const first = here.data<float>();
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
