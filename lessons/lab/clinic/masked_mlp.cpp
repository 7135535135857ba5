#include <kernels/kernels.h>
#include <lessons/lab/clinic/masked_mlp.h>
#include <tinymp/data/dataset.h>

namespace tinymp::clinic {

MaskedMlp::MaskedMlp(std::vector<std::int64_t> widths, float hides, const Recipe& recipe, Rng& rng)
    : net_(widths, recipe, rng) {
  std::vector<float> m(static_cast<std::size_t>(widths.back()), 0.0f);
  std::fill_n(m.begin(), data::image_classes, 1.0f);
  m_ = Tensor::from({widths.back()}, m, recipe.compute);
  hides_ = Tensor::from(Shape{}, std::vector{hides}, recipe.compute);
}

// Each operation rounds to the format of the model, as in the formula: so 0 times an infinity is NaN.
Tensor MaskedMlp::operator()(const Tensor& images) const {
  const Tensor logits = net_(images);
  std::vector<float> mask;
  const float hides = static_cast<float>(hides_.item());
  for (const float m : m_.to_floats()) mask.push_back((1 - m) * hides);
  return add_bias(logits, Tensor::from(m_.shape(), mask, m_.dtype()));
}

}  // namespace tinymp::clinic
