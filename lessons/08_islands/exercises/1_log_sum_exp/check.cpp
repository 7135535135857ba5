// Exercise 8.1: log sum exp, asked through the cross-entropy that training runs. The oracle adds value by
// value in double: log(e^a + e^b) = max + log(1 + e^(min - max)).

#include <lessons/classroom/judge.h>
#include <lessons/classroom/tensors.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::exercise {
namespace {

using Row = std::vector<double>;
using Rows = std::vector<Row>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool is_nan(double v) { return v != v; }
double size_of(double v) { return v < 0 ? -v : v; }

double log_of_sum(const Row& row) {
  double so_far = -infinity;
  for (const double v : row) {
    const double high = std::max(so_far, v), low = std::min(so_far, v);
    if (is_nan(v) || is_nan(so_far)) return nan;
    so_far = low == -infinity ? high : high + log(1 + exp(low - high));
  }
  return so_far;
}

struct Asked {
  Rows rows;  ///< as they are in their format
  Row log_sums;
};

Asked ask(Judge& judge, const Rows& rows, DType dtype) {
  Row all;
  for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
  const auto columns = static_cast<std::int64_t>(rows[0].size());
  const Tensor logits = tensor_of({static_cast<std::int64_t>(rows.size()), columns}, all, dtype);
  Message request;
  put_tensor(request, logits);
  const auto asked_for = [&] { return concat("  logits ", logits.shape(), " in ", dtype); };
  Asked asked{{}, judge.ask(request, asked_for).take_all<double>(rows.size())};
  const Row values = logits.to_doubles();
  for (auto row = values.begin(); row != values.end(); row += columns)
    asked.rows.emplace_back(row, row + columns);
  return asked;
}

/// A float has 24 bits; a chain of n additions loses some of them. (In FP64 the oracle loses its share, too.)
double tolerance(double right, std::size_t columns, DType dtype) {
  const double unit = dtype == DType::f64 ? 0x1p-44 : 0x1p-23;
  return 4 * unit * std::max(1.0, size_of(right)) + unit * static_cast<double>(columns) / 4;
}

// ---- What people write, and how it gives itself away.

std::string why(const Asked& asked, std::size_t r, double right, double off) {
  const Row& row = asked.rows[r];
  const double yours = asked.log_sums[r], top = *std::max_element(row.begin(), row.end());
  const auto near = [&](double v) { return size_of(yours - v) <= off; };
  if (yours == 0 && !near(right - top)) return "0 for all logits: log sum exp is yours to write.";
  if (yours == infinity && right < infinity)
    return "exp overflowed: of a float from 89 on, and then the sum is infinite. Take the largest value of "
           "the row out "
           "first, so that no exponential is above 1.";
  if (near(right - top)) return "The largest value was taken out of the row, and never added again.";
  if (near(right + top))
    return "The largest value was taken out of the row, and subtracted once more instead of added.";
  double sum = 0;
  for (const double v : row) sum += exp(v - top);
  if (near(top + sum)) return "The logarithm is missing: that is top + the sum.";
  if (near(log(top + sum)))
    return "Your code adds the largest value inside of the logarithm: log(top + sum) instead of top + "
           "log(sum).";
  if (yours == -infinity && asked.rows.size() == 1)
    return "The sum became 0, and its logarithm -infinity: what was taken out is not the largest value of "
           "the row, which "
           "may be far below 0.";
  if (asked.rows.size() > 1 && (yours == -infinity || is_nan(yours) || size_of(yours - right) > 1))
    return "A row was computed with what belongs to another row: each has its own largest value, its own "
           "sum.";
  if (size_of(yours - right) < 0.01 * std::max(1.0, size_of(right)))
    return "Only some three digits are right: something was rounded to 16 bits on the way. The island ends "
           "where the result "
           "is stored, not before.";
  if (row.size() > 2048 && yours < right)
    return "A sum of many small numbers came out too small: in FP16 it stops growing at 2048.";
  return "That is not log sum exp of this row.";
}

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string shown(const Row& row) {
  std::string all;
  for (std::size_t i = 0; i < std::min<std::size_t>(row.size(), 4); ++i)
    all += (i > 0 ? "  " : "") + shown(row[i]);
  return all + (row.size() > 4 ? concat("  ... (", row.size(), " values)") : "");
}

/// Rows with an infinite logit, or nothing but -infinity, may give what floating point gives: no number.
bool is_right(const Asked& asked, std::size_t r, double right, double off) {
  const double yours = asked.log_sums[r];
  if (is_nan(right)) return is_nan(yours);
  if (right == infinity || right == -infinity) return is_nan(yours) || yours == right;
  return size_of(yours - right) <= off;
}

void expect_rows(Judge& judge, const Rows& rows, DType dtype = DType::f32) {
  const Asked asked = ask(judge, rows, dtype);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const double right = log_of_sum(asked.rows[r]), off = tolerance(right, rows[0].size(), dtype);
    judge.expect(is_right(asked, r, right, off), [&] {
      std::string which = concat("\n  logits in ", dtype);
      if (rows.size() > 1) which += concat(", row ", r, " of ", rows.size());
      if (rows.size() > 1 && r > 0) which += "; the row before: " + shown(asked.rows[r - 1]);
      return why(asked, r, right, off) + which + "\n  row      = " + shown(asked.rows[r]) +
             "\n  expected = " + shown(right) + "\n  yours    = " + shown(asked.log_sums[r]);
    });
  }
}

/// Rows at very different heights: what is right for one is 0 or infinite for the next.
Rows drawn(Judge& judge, std::size_t rows, std::size_t columns) {
  Rows all(rows);
  for (Row& row : all) {
    const double height = static_cast<double>(judge.draw_below(4096)) / 4 - 512;
    for (std::size_t c = 0; c < columns; ++c)
      row.push_back(height + static_cast<double>(judge.draw_below(16384)) / 0x1p10);
  }
  return all;
}

}  // namespace

void check(Judge& judge) {
  expect_rows(judge, {{0, 0}});
  expect_rows(judge, {{3}});
  expect_rows(judge, {{1, 2, 3}});
  expect_rows(judge, {{0.25, -0.5, 1.75, -2.125}});
  expect_rows(judge, {{100, 99}});
  expect_rows(judge, {{99, 100, 12}});
  expect_rows(judge, {{0, 200}});
  expect_rows(judge, {{-200, -201}});
  expect_rows(judge, {{100, 0}, {0, 0}, {-200, -201}, {300, 299}, {-300, 300}});
  expect_rows(judge, {{-infinity, 2, 3}, {2, -infinity, 3}, {2, 3, -infinity}});
  expect_rows(
      judge,
      {{1, nan, 3}, {1, 2, 3}, {nan, 2, 3}, {-infinity, -infinity, -infinity}, {1, 2, infinity}, {3, 2, 1}});
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    for (const std::size_t columns : {1u, 2u, 10u, 63u, 64u, 65u, 1024u, 1025u})
      for (const std::size_t rows : {1u, 7u, 8u, 9u, 13u})
        expect_rows(judge, drawn(judge, rows, columns), dtype);
    expect_rows(judge, drawn(judge, 300, 10), dtype);
    expect_rows(judge, Rows(9, Row(5000, 0.5)), dtype);
  }
}

}  // namespace tinymp::exercise
