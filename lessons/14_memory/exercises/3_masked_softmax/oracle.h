#pragma once

#include <lessons/lab/classroom/tensors.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>
#include <limits>
#include <span>
#include <vector>

/// What exercise 14.3 expects. The oracle adds up logarithms, score by score, in double.
namespace tinymp::exercise {

using enum DType;
inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr double lowest = static_cast<double>(std::numeric_limits<float>::lowest());
inline constexpr double nan = std::numeric_limits<double>::quiet_NaN();

inline bool is_nan(double v) { return v != v; }
inline bool is_finite(double v) { return v - v == 0; }
inline double size_of(double v) { return v < 0 ? -v : v; }

struct Trial {
  Shape shape;  ///< (B,H,T,S)
  std::vector<double> scores;
  double scale = 1;
  bool causal = false;
  std::vector<std::int32_t> lengths{};  ///< (B), or empty
  DType in = f32, out = f32;
};

/// A row: its scores as the kernel reads them, times scale in the format of the computation.
struct Row {
  std::vector<double> scores;
  std::size_t seen;

  std::span<const double> seen_scores() const { return std::span(scores).first(seen); }
};

inline Row row_of(const Trial& t, const std::vector<double>& read, std::size_t r) {
  const auto columns = static_cast<std::size_t>(t.shape[3]);
  Row row{{read.begin() + static_cast<std::ptrdiff_t>(r * columns),
           read.begin() + static_cast<std::ptrdiff_t>((r + 1) * columns)},
          columns};
  for (double& v : row.scores)
    v = t.in == f64 ? t.scale * v : static_cast<double>(static_cast<float>(t.scale) * static_cast<float>(v));
  const std::int64_t step = static_cast<std::int64_t>(r) % t.shape[2],
                     text = static_cast<std::int64_t>(r) / (t.shape[1] * t.shape[2]);
  if (t.causal) row.seen = std::min(row.seen, static_cast<std::size_t>(step + 1));
  if (!t.lengths.empty())
    row.seen = std::min(row.seen, static_cast<std::size_t>(t.lengths[static_cast<std::size_t>(text)]));
  return row;
}

/// log of the sum of e^score, value by value: log(e^a + e^b) = max + log(1 + e^(min - max)).
inline double log_of_sum(std::span<const double> scores) {
  double so_far = -infinity;
  for (const double v : scores) {
    const double high = std::max(so_far, v), low = std::min(so_far, v);
    so_far = low == -infinity ? high : high + log(1 + exp(low - high));
  }
  return so_far;
}

/// The shares of the first `over` scores of a row; 0 for all others.
inline std::vector<double> shares_of(const std::vector<double>& scores, std::size_t over) {
  std::vector<double> below(scores.begin(), scores.begin() + static_cast<std::ptrdiff_t>(over));
  const auto some = std::ranges::find_if(below, [](double v) { return v != -infinity; });
  const double from = some == below.end() ? 0 : *some;
  for (double& v : below) v -= from;
  const double all = log_of_sum(below);
  std::vector<double> shares(scores.size(), 0.0);
  for (std::size_t c = 0; c < over; ++c) shares[c] = exp(below[c] - all);
  return shares;
}

/// A share is rounded to the format of the result; below its smallest number there is a grid.
inline double tolerance(const Trial& t, double right) {
  const double unit = t.out == f16                  ? 0x1p-11
                      : t.out == bf16               ? 0x1p-8
                      : t.in == f64 && t.out == f64 ? 0x1p-40
                                                    : 0x1p-19;
  const double grid = t.out == f16 ? 0x1p-25 : 1e-38;
  return 1.001 * unit * right + 1e-6 * (t.in == f64 ? 1e-6 : 1) * right + grid;
}

inline bool are_right(const Trial& t, std::span<const double> yours, const std::vector<double>& right,
                      double unit = 0) {
  for (std::size_t c = 0; c < right.size(); ++c)
    if (is_nan(yours[c]) || size_of(yours[c] - right[c]) > tolerance(t, right[c]) + unit * right[c])
      return false;
  return true;
}

}  // namespace tinymp::exercise
