#include <fmt/core.h>

#include <lessons/lab/report/number.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace tinymp::report {
namespace {

std::string nonfinite(double value) { return std::isnan(value) ? "NaN" : value > 0 ? "inf" : "-inf"; }

}  // namespace

std::string short_number(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}g}", value, digits) : nonfinite(value);
}

std::string fixed_digits(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:#.{}g}", value, digits) : nonfinite(value);
}

std::string fixed(double value, int digits) {
  return std::isfinite(value) ? fmt::format("{:.{}f}", value, digits) : nonfinite(value);
}

std::string metric_text(double value) { return fixed_digits(value, std::abs(value) < 10 ? 3 : 4); }

std::string percent(double share) {
  if (!std::isfinite(share)) return nonfinite(share);
  const double value = 100 * share;
  if (value > 0 && value < 0.1) return "<0.1 %";
  // 99.96 would print as 100: what is not all must not look like all.
  if (value > 99.9 && value < 100) return ">99.9 %";
  return value == 0 || value >= 100 || (value >= 9.95 && value < 99) ? fmt::format("{:.0f} %", value)
                                                                     : fmt::format("{:.1f} %", value);
}

bool is_power_of_two(double value, int& exponent) {
  constexpr std::uint64_t fraction_mask = (std::uint64_t{1} << 52) - 1;
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto field = static_cast<int>(bits >> 52);  // sign and exponent; 0: subnormal, 2047: not finite
  exponent = field - 1023;
  return (bits & fraction_mask) == 0 && field > 0 && field < 2047;
}

std::string scale_text(double scale) {
  int exponent = 0;
  if (is_power_of_two(scale, exponent) && (exponent > 16 || exponent < -4))
    return fmt::format("2^{}", exponent);
  return short_number(scale, 6);
}

std::string bytes_text(double bytes) {
  if (!std::isfinite(bytes) || bytes < 0) return "?";
  if (bytes < 1000) return fmt::format("{:.0f} B", bytes);
  for (const char* const unit : {"kB", "MB", "GB"}) {
    bytes /= 1000;
    if (bytes < 999.5) return fmt::format("{:.3g} {}", bytes, unit);
  }
  return fmt::format("{:.3g} TB", bytes / 1000);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "?";
  if (seconds < 10) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::min(seconds, 1e9) + 0.5);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

}  // namespace tinymp::report
