#include <tinymp/base/memory_account.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/train/eight_bit_meter.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::train {
namespace {

/// From this share on of values beyond the largest number a tensor is worth a report.
constexpr double much = 0.1;

double lost_share(const NarrowedSizes& sizes) {
  const double saturated = share(sizes.saturated, sizes.values);
  if (sizes.values > 0 && sizes.flushed == sizes.values) return 1;
  return saturated >= much ? saturated : 0;
}

NarrowedTensor counted(const Narrowed& t) {
  const std::vector<float> before = t.before.to_floats(), after = t.after.to_floats();
  const float scale = t.scale ? static_cast<float>(t.scale.item()) : 1;
  const float end = visit_any_dtype(t.after.dtype(),
                                    []<class T> { return converted<float>(std::numeric_limits<T>::max()); });
  NarrowedTensor found{.kind = t.kind,
                       .shape = t.before.shape(),
                       .scale = static_cast<double>(scale),
                       .sizes = {.what = name_of(t.kind), .dtype = t.after.dtype()}};
  float largest = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float size = std::fabs(before[i]);
    if (size == 0 || !std::isfinite(size)) continue;
    ++found.sizes.values;
    largest = std::max(largest, size);
    found.sizes.flushed += after[i] == 0;
    found.sizes.saturated += scale * size > end && !(std::fabs(after[i]) < end);  // E4M3 has NaN for infinity
  }
  found.largest = static_cast<double>(largest);
  return found;
}

}  // namespace

std::vector<NarrowedSizes> EightBitMeter::sizes() const {
  std::vector<NarrowedSizes> found;
  for (const std::optional<NarrowedSizes>& sizes : sizes_)
    if (sizes) found.push_back(*sizes);
  return found;
}

void EightBitMeter::forward(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  if (also_ != nullptr) also_->forward(op, inputs, output);
}

void EightBitMeter::backward(const std::string& op, const std::vector<Tensor>& inputs, const Tensor& output,
                             const Tensor& dy, const std::vector<Tensor>& gradients) {
  if (also_ != nullptr) also_->backward(op, inputs, output, dy, gradients);
}

void EightBitMeter::begin_again(const std::vector<Tensor>& inputs) {
  if (also_ != nullptr) also_->begin_again(inputs);
}

void EightBitMeter::again(const Op& op, const std::vector<Tensor>& inputs, const Tensor& output) {
  if (also_ != nullptr) also_->again(op, inputs, output);
}

void EightBitMeter::narrowed(const Narrowed& tensor) {
  if (also_ != nullptr) also_->narrowed(tensor);
  const Uncounted apart;
  NarrowedTensor found = counted(tensor);
  std::optional<NarrowedSizes>& all = sizes_[static_cast<std::size_t>(tensor.kind)];
  if (all)
    *all += found.sizes;
  else
    all = found.sizes;
  const bool unscaled_yet = delayed_ && found.scale == 1;
  const double lost = unscaled_yet ? 0 : lost_share(found.sizes);
  if (lost == 0 || (worst_ && lost <= lost_share(worst_->sizes))) return;
  const std::string name = name_ ? name_(tensor.weight) : "";
  found.layer = name.substr(0, name.rfind(' '));
  worst_ = std::move(found);
}

}  // namespace tinymp::train
