// Exercise 8.1: log sum exp, asked through the cross-entropy that training runs. The oracle adds value by
// value in double: log(e^a + e^b) = max + log(1 + e^(min - max)).

#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/tensors.h>
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
  Row tops, log_sums;
};

Asked ask(Judge& judge, const Rows& rows, DType dtype) {
  Row all;
  for (const Row& row : rows) all.insert(all.end(), row.begin(), row.end());
  const auto columns = static_cast<std::int64_t>(rows[0].size());
  const Tensor logits = tensor_of({static_cast<std::int64_t>(rows.size()), columns}, all, dtype);
  Message request;
  put_tensor(request, logits);
  const auto asked_for = [&] { return concat("  logits ", logits.shape(), " in ", dtype); };
  Message reply = judge.ask(request, asked_for);
  Asked asked;
  asked.tops = reply.take_all<double>(rows.size());
  asked.log_sums = reply.take_all<double>(rows.size());
  const Row values = logits.to_doubles();
  for (auto row = values.begin(); row != values.end(); row += columns)
    asked.rows.emplace_back(row, row + columns);
  return asked;
}

/// What a row should have: its largest value, and log sum exp of what the others are below it.
struct Right {
  double top, log_sum;
};
Right right_of(Row row) {
  for (const double v : row) {
    if (is_nan(v)) return {nan, nan};
  }
  const double top = *std::max_element(row.begin(), row.end());
  for (double& v : row) v -= top;
  return {top, size_of(top) < infinity ? log_of_sum(row) : nan};
}

/// A float has 24 bits; a chain of n additions loses some of them. (In FP64 the oracle loses its share, too.)
double tolerance(double right, std::size_t columns, DType dtype) {
  const double unit = dtype == DType::f64 ? 0x1p-44 : 0x1p-23;
  return 4 * unit * std::max(1.0, right) + unit * static_cast<double>(columns) / 4;
}

// ---- What people write, and how it gives itself away.

std::string why_top(const Asked& asked, std::size_t r, const Right& right) {
  const Row& row = asked.rows[r];
  const double top = asked.tops[r];
  for (std::size_t other = 0; other < asked.rows.size(); ++other) {
    if (other != r && top == right_of(asked.rows[other]).top)
      return "Your top[r] belongs to another row: each has its own largest value.";
  }
  const double both = right.top + right.log_sum;
  if (top == 0 && size_of(asked.log_sums[r] - both) <= 0x1p-10 * std::max(1.0, size_of(both)))
    return "Your code has no top[r]: the largest value belongs into top[r]. Left in the row, it makes exp "
           "overflow from 89 on; added "
           "to log_sum[r], it leaves the logarithm no digits.";
  if (top == row[0])
    return "Your code takes out the first value, where it has to be the largest: exp of the others may "
           "overflow.";
  return "Your top[r] is not the largest value of the row, which may be far below 0.";
}

std::string why_log_sum(const Asked& asked, std::size_t r, const Right& right, double off) {
  const Row& row = asked.rows[r];
  const double yours = asked.log_sums[r], top = right.top;
  const auto near = [&](double v) { return size_of(yours - v) <= off; };
  if (near(top + right.log_sum))
    return "Your log_sum[r] has the largest value once more: it is in top[r] already.";
  double sum = 0;
  for (const double v : row) sum += exp(v - top);
  if (near(sum)) return "Your log_sum[r] is the sum: the logarithm is missing.";
  if (near(log(top + sum)))
    return "Your code adds the largest value inside of the logarithm: log(top + sum) instead of log(sum).";
  if (asked.rows.size() > 1 && (yours == -infinity || is_nan(yours) || size_of(yours - right.log_sum) > 0.25))
    return "Your code computes a row with what belongs to another row: each has its own largest value, its "
           "own sum.";
  if (size_of(yours - right.log_sum) < 0.01 * std::max(1.0, right.log_sum))
    return "Your log_sum[r] has some three right digits: something was rounded to 16 bits on the way. The "
           "island ends "
           "where the result "
           "is stored, not before.";
  if (row.size() > 2048 && yours < right.log_sum)
    return "Your sum of many small numbers is too small: in FP16 it stops growing at 2048.";
  return "Your two numbers are not log sum exp of this row.";
}

std::string why(const Asked& asked, std::size_t r, const Right& right, double off) {
  if (asked.tops[r] == 0 && asked.log_sums[r] == 0)
    return "Your code gives 0 for all logits: log sum exp is yours to write.";
  return asked.tops[r] == right.top ? why_log_sum(asked, r, right, off) : why_top(asked, r, right);
}

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string shown(const Row& row) {
  std::string all;
  for (std::size_t i = 0; i < std::min<std::size_t>(row.size(), 4); ++i)
    all += (i > 0 ? "  " : "") + shown(row[i]);
  return all + (row.size() > 4 ? concat("  ... (", row.size(), " values)") : "");
}

/// Rows with NaN, an infinite logit, or nothing but -infinity, may give what floating point gives: no number.
bool is_right(const Asked& asked, std::size_t r, const Right& right, double off) {
  const double top = asked.tops[r], log_sum = asked.log_sums[r];
  if (is_nan(right.top)) return is_nan(top + log_sum);
  if (is_nan(right.log_sum)) return is_nan(top + log_sum) || top + log_sum == right.top;
  return top == right.top && size_of(log_sum - right.log_sum) <= off;
}

void expect_rows(Judge& judge, const Rows& rows, DType dtype = DType::f32) {
  const Asked asked = ask(judge, rows, dtype);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Right right = right_of(asked.rows[r]);
    const double off = tolerance(right.log_sum, rows[0].size(), dtype);
    judge.expect(is_right(asked, r, right, off), [&] {
      std::string which = concat("\n  logits in ", dtype);
      if (rows.size() > 1) which += concat(", row ", r, " of ", rows.size());
      if (rows.size() > 1 && r > 0) which += "; the row before: " + shown(asked.rows[r - 1]);
      return why(asked, r, right, off) + which + "\n  row      = " + shown(asked.rows[r]) +
             "\n  expected = top " + shown(right.top) + ", log_sum " + shown(right.log_sum) +
             "\n  yours    = top " + shown(asked.tops[r]) + ", log_sum " + shown(asked.log_sums[r]);
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
  expect_rows(judge, {{1e7, 1e7}, {3e38, 3e38}, {-1e30, -1e30}});
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
