#include <tinymp/base/error.h>
#include <tinymp/numeric/exp_log.h>
#include <tinymp/train/predict.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tinymp::train {

Prediction prediction_from(std::vector<float> logits) {
  expect(!logits.empty(), "prediction_from: no logits");
  Prediction made{.logits = std::move(logits)};
  made.is_finite = std::ranges::all_of(made.logits, [](float x) { return std::isfinite(x); });
  made.shares.assign(made.logits.size(), std::numeric_limits<double>::quiet_NaN());
  if (!made.is_finite) return made;
  const auto largest = std::ranges::max_element(made.logits);
  made.answer = static_cast<std::size_t>(largest - made.logits.begin());
  double sum = 0;
  for (std::size_t c = 0; c < made.logits.size(); ++c) {
    made.shares[c] = tinymp::exp(static_cast<double>(made.logits[c]) - static_cast<double>(*largest));
    sum += made.shares[c];
  }
  for (double& share : made.shares) share /= sum;
  return made;
}

std::vector<Prediction> predict(const nn::Model& model, const data::Dataset& images,
                                const data::LoaderOptions& options, Device device) {
  std::vector<Prediction> all;
  for (const data::Batch& on_host : data::InOrder(images, 1000, options)) {
    const Tensor logits = model(data::to(on_host, device).images);  // (B,C)
    const std::vector<float> values = logits.to_floats();
    const std::ptrdiff_t classes = logits.shape()[1];
    for (auto row = values.begin(); row != values.end(); row += classes)
      all.push_back(prediction_from({row, row + classes}));
  }
  return all;
}

}  // namespace tinymp::train
