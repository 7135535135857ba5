#include <tinymp/train/histogram.h>
#include <algorithm>
#include <bit>
#include <cmath>

namespace tinymp::train {
namespace {

constexpr std::uint64_t magnitude_mask = ~(std::uint64_t{1} << 63);

}  // namespace

double share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

// A double is 1.f x 2^(field - 1023); the field stands above the 52 bits of f.
int exponent_below(double x) {
  return static_cast<int>((std::bit_cast<std::uint64_t>(x) & magnitude_mask) >> 52) - 1023;
}

// Takes the exponent of the next smaller number: one less for a power of two
// (its f is 0), otherwise the same.
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
  if (!(largest > 0)) return farthest_exponent;
  int k = 0;
  while (k < farthest_exponent && std::ldexp(largest, k) < 65520) ++k;
  while (k > -farthest_exponent && std::ldexp(largest, k - 1) >= 65520) --k;
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

UpdateSizes& UpdateSizes::operator+=(const UpdateSizes& other) {
  ratios += other.ratios;
  underflowed += other.underflowed;
  absorbed += other.absorbed;
  return *this;
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
