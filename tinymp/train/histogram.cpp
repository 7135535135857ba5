#include <tinymp/numeric/convert.h>
#include <tinymp/train/histogram.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace tinymp::train {
namespace {

constexpr std::uint64_t magnitude_mask = ~(std::uint64_t{1} << 63);

/// Exponents of products and quotients of floats lie between -298 and 277; what an f64 may have beyond is
/// counted there.
constexpr int farthest = 300;

/// Counts first, and cuts the empty ends off afterwards.
class Counter {
 public:
  void add(double x, int (*exponent)(double)) {
    if (x == 0) {
      ++zeros_;
    } else if (!std::isfinite(x)) {
      ++nonfinite_;
    } else {
      ++counts_[static_cast<std::size_t>(std::clamp(exponent(x), -farthest, farthest) + farthest)];
    }
  }

  Histogram histogram() const {
    const auto is_full = [](std::int64_t count) { return count > 0; };
    const auto begin = std::find_if(counts_.begin(), counts_.end(), is_full);
    const auto end = std::find_if(counts_.rbegin(), counts_.rend(), is_full).base();
    if (begin == counts_.end()) return {.zeros = zeros_, .nonfinite = nonfinite_};
    return {.zeros = zeros_,
            .nonfinite = nonfinite_,
            .first = static_cast<int>(begin - counts_.begin()) - farthest,
            .counts = {begin, end}};
  }

 private:
  std::int64_t zeros_ = 0, nonfinite_ = 0;
  std::array<std::int64_t, 2 * farthest + 1> counts_{};
};

}  // namespace

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A double is 1.f x 2^(field - 1023), the field standing above 52 bits of f.
int exponent_below(double x) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(x) & magnitude_mask) >> 52) - 1023;
}

// The number just below has the exponent that is one less - of a power of two, whose f is 0 - or the same.
int exponent_above(double x) {
  return static_cast<int>(((std::bit_cast<std::uint64_t>(x) & magnitude_mask) - 1) >> 52) - 1022;
}

std::int64_t Histogram::sized() const {
  std::int64_t sum = 0;
  for (const std::int64_t count : counts) sum += count;
  return sum;
}
std::int64_t Histogram::nonzero() const { return sized() + nonfinite; }
std::int64_t Histogram::values() const { return zeros + nonzero(); }

std::int64_t Histogram::at(int exponent) const {
  const std::int64_t i = std::int64_t{exponent} - first;
  return i < 0 || i >= std::ssize(counts) ? 0 : counts[static_cast<std::size_t>(i)];
}

std::int64_t Histogram::up_to(int exponent) const {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < std::min(std::ssize(counts), std::int64_t{exponent} - first + 1); ++i)
    sum += counts[static_cast<std::size_t>(i)];
  return sum;
}

Histogram& Histogram::operator+=(const Histogram& other) {
  zeros += other.zeros;
  nonfinite += other.nonfinite;
  if (other.counts.empty()) return *this;
  if (counts.empty()) first = other.first;
  if (other.first < first) {
    counts.insert(counts.begin(), static_cast<std::size_t>(first - other.first), 0);
    first = other.first;
  }
  const auto offset = static_cast<std::size_t>(other.first - first);
  counts.resize(std::max(counts.size(), offset + other.counts.size()));
  for (std::size_t i = 0; i < other.counts.size(); ++i) counts[offset + i] += other.counts[i];
  return *this;
}

int GradientSizes::overflows_from() const {
  if (!(largest > 0)) return farthest;
  int k = 0;
  while (k < farthest && std::ldexp(largest, k) < 65520) ++k;
  while (k > -farthest && std::ldexp(largest, k - 1) >= 65520) --k;
  return k;
}

GradientSizes& GradientSizes::operator+=(const GradientSizes& other) {
  sizes += other.sizes;
  largest = std::max(largest, other.largest);
  subnormal += other.subnormal;
  overflowed += other.overflowed;
  flushed += other.flushed;
  return *this;
}

GradientSizes gradient_sizes(const Tensor& wide, const Tensor& own, double scale) {
  expect(wide.size() == own.size(), "gradient_sizes: ", wide.shape(), " beside ", own.shape());
  const std::vector<double> exact = wide.to_doubles(), kept = own.to_doubles();
  GradientSizes found;
  Counter counter;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    const double scaled = exact[i] * scale;  // of two floats: exact
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

UpdateSizes& UpdateSizes::operator+=(const UpdateSizes& other) {
  ratios += other.ratios;
  underflowed += other.underflowed;
  absorbed += other.absorbed;
  return *this;
}

UpdateSizes update_sizes(std::span<const float> updates, std::span<const float> before,
                         std::span<const float> after, DType master) {
  expect(updates.size() == before.size() && before.size() == after.size(), "update_sizes: ", updates.size(),
         " updates of ", before.size(), " values that became ", after.size());
  const Shape shape{static_cast<std::int64_t>(updates.size())};
  const std::vector<float> rounded = Tensor::from(shape, updates, master).to_floats();
  UpdateSizes found;
  Counter counter;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (updates[i] == 0) continue;
    const bool is_finite = std::isfinite(updates[i]) && std::isfinite(before[i]);
    // The quotient in double has the exponent of the true one: two floats are a power of two apart, or
    // farther from it than a double can round away.
    const double ratio = static_cast<double>(before[i]) / static_cast<double>(updates[i]);
    counter.add(is_finite ? ratio : std::numeric_limits<double>::infinity(), exponent_below);
    found.underflowed += rounded[i] == 0;
    found.absorbed += rounded[i] != 0 && after[i] == before[i];
  }
  found.ratios = counter.histogram();
  return found;
}

GradientSizes StepSizes::gradients() const {
  GradientSizes all;
  for (const ParameterSizes& p : parameters) all += p.gradients;
  return all;
}

std::optional<UpdateSizes> StepSizes::updates() const {
  std::optional<UpdateSizes> all;
  for (const ParameterSizes& p : parameters) {
    if (!p.updates) continue;
    if (!all) all.emplace();
    *all += *p.updates;
  }
  return all;
}

}  // namespace tinymp::train
