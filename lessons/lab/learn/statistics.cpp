#include <fmt/format.h>
#include <lessons/lab/learn/lab.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

double extreme(const std::vector<double>& values, bool largest) {
  if (values.empty()) return train::not_measured;
  double found = values.front();
  for (const double value : values) {
    if (std::isnan(value)) return value;
    found = largest ? std::max(found, value) : std::min(found, value);
  }
  return found;
}

std::vector<double> seed_by_seed(const std::vector<double>& a, const std::vector<double>& b,
                                 double (*compare)(double, double)) {
  expect(a.size() == b.size(), "cannot compare ", a.size(), " results with ", b.size(),
         ": one a seed is needed of each");
  std::vector<double> compared;
  for (std::size_t i = 0; i < a.size(); ++i) compared.push_back(compare(a[i], b[i]));
  return compared;
}

/// 95 % of Student's t lie within this, for 1, 2, ... degrees of freedom; the last, a little wide, for more.
constexpr double within_95[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262};

}  // namespace

std::string range(double low, double high, int digits) {
  const std::string from = fixed(low, digits), to = fixed(high, digits);
  return from == to ? from : from + " to " + to;
}

std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b) {
  return seed_by_seed(a, b, [](double x, double y) { return x - y; });
}

std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b) {
  return seed_by_seed(a, b, [](double x, double y) { return x / y; });
}

double largest_gap(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> gaps = differences(a, b);
  return std::max(largest(gaps), -smallest(gaps));
}

std::string on_some_seeds(const std::vector<double>& values, double limit, const char* words) {
  const auto count = std::ranges::count_if(values, [&](double value) { return !(value < limit); });
  if (count == 0 || count == std::ssize(values)) return "";
  return fmt::format(" ({} on {} of {} seeds)", words, count, values.size());
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return values.empty() ? train::not_measured : sum / static_cast<double>(values.size());
}

Interval interval_of(const std::vector<double>& values) {
  expect(values.size() >= 2, "an interval takes two values or more, not ", values.size());
  const double middle = mean(values), degrees = static_cast<double>(values.size() - 1);
  double squares = 0;
  for (const double value : values) squares += (value - middle) * (value - middle);
  const double error = std::sqrt(squares / degrees / static_cast<double>(values.size()));
  const double half = within_95[std::min(values.size() - 2, std::size(within_95) - 1)] * error;
  return {middle, middle - half, middle + half};
}

double smallest(const std::vector<double>& values) { return extreme(values, false); }
double largest(const std::vector<double>& values) { return extreme(values, true); }

std::string spread(const std::vector<double>& values, int digits) {
  const std::string middle = fixed(mean(values), digits);
  if (values.size() < 2 || middle == "NaN") return middle;
  return fmt::format("{} ({} .. {})", middle, fixed(smallest(values), digits),
                     fixed(largest(values), digits));
}

}  // namespace tinymp::lab
