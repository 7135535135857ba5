#include <tinymp/numeric/convert.h>
#include <tinymp/train/histogram.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

// From tensors to histograms.
namespace tinymp::train {
namespace {

/// Counts all exponents; histogram() then cuts the empty ends off.
class Counter {
 public:
  void add(double x, int (*exponent)(double)) {
    if (x == 0) {
      ++zeros_;
    } else if (!std::isfinite(x)) {
      ++nonfinite_;
    } else {
      ++counts_[static_cast<std::size_t>(std::clamp(exponent(x), -farthest_exponent, farthest_exponent) +
                                         farthest_exponent)];
    }
  }

  Histogram histogram() const {
    const auto is_full = [](std::int64_t count) { return count > 0; };
    const auto begin = std::find_if(counts_.begin(), counts_.end(), is_full);
    const auto end = std::find_if(counts_.rbegin(), counts_.rend(), is_full).base();
    if (begin == counts_.end()) return {.zeros = zeros_, .nonfinite = nonfinite_};
    return {.zeros = zeros_,
            .nonfinite = nonfinite_,
            .first = static_cast<int>(begin - counts_.begin()) - farthest_exponent,
            .counts = {begin, end}};
  }

 private:
  std::int64_t zeros_ = 0, nonfinite_ = 0;
  std::array<std::int64_t, 2 * farthest_exponent + 1> counts_{};
};

}  // namespace

GradientSizes gradient_sizes(const Tensor& wide, const Tensor& own, double scale) {
  expect(wide.size() == own.size(), "gradient_sizes: ", wide.shape(), " beside ", own.shape());
  const std::vector<double> exact = wide.to_doubles(), kept = own.to_doubles();
  GradientSizes found;
  Counter counter;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double scaled = exact[i] * scale;  // exact for two floats
    counter.add(scaled, exponent_above);
    found.flushed += exact[i] != 0 && kept[i] == 0;
    if (!std::isfinite(scaled)) continue;
    found.largest = std::max(found.largest, std::abs(scaled));
    const half rounded = half_from_double(scaled);
    const bool is_tiny = (rounded.bits() & 0x7c00) == 0, is_zero = (rounded.bits() & 0x7fff) == 0;
    found.subnormal += is_tiny && !is_zero;
    found.overflowed += isinf(rounded);
  }
  found.sizes = counter.histogram();
  return found;
}

UpdateSizes update_sizes(const UpdatedValues& values) {
  const auto& [updates, before, after, master, rounds_updates, kept_before, kept_after] = values;
  expect(updates.size() == before.size() && before.size() == after.size(), "update_sizes: ", updates.size(),
         " updates of ", before.size(), " values that became ", after.size());
  const Shape shape{static_cast<std::int64_t>(updates.size())};
  const std::vector<float> rounded =
      Tensor::from(shape, updates, rounds_updates ? master : DType::f32).to_floats();
  UpdateSizes found;
  Counter counter;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (updates[i] == 0) continue;
    const bool is_finite = std::isfinite(updates[i]) && std::isfinite(before[i]);
    // The quotient in double has the exponent of the exact quotient. That is a power of two, or it is farther
    // from one than the rounding of a double.
    const double ratio = static_cast<double>(before[i]) / static_cast<double>(updates[i]);
    counter.add(is_finite ? ratio : std::numeric_limits<double>::infinity(), exponent_below);
    found.underflowed += rounded[i] == 0;
    const bool kept = kept_before.empty() || kept_before[i] == kept_after[i];
    found.absorbed += rounded[i] != 0 && after[i] == before[i] && kept;
  }
  found.ratios = counter.histogram();
  return found;
}

}  // namespace tinymp::train
