// Exercise 8.2: the statistics of batch norm, by the kernel that training runs. All values are whole numbers,
// so the oracle knows their sums and the sums of their squares exactly, as integers: B^2 variance = B sum x^2
// - (sum x)^2. (As integers. In floats that very formula is the mistake.)

#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/tensors.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/accumulation.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::exercise {
namespace {

using Values = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

double size_of(double v) { return v < 0 ? -v : v; }
bool is_finite(double v) { return v - v == 0; }

struct Case {
  std::int64_t rows, columns;
  Values x;
  DType dtype = DType::f32;
  Accumulation sums{};
  const char* says = nullptr;  ///< of a case that only one mistake fails
};

struct Moments {
  double mean, variance;
};

Values column(const Case& c, std::int64_t k) {
  Values values;
  for (std::int64_t r = 0; r < c.rows; ++r)
    values.push_back(c.x[static_cast<std::size_t>(r * c.columns + k)]);
  return values;
}

Moments exact(const Values& column) {
  std::int64_t sum = 0, squares = 0;
  const auto n = static_cast<std::int64_t>(column.size());
  for (const double v : column) {
    if (!is_finite(v)) return {nan, nan};
    const auto whole = static_cast<std::int64_t>(v);
    sum += whole;
    squares += whole * whole;
  }
  const auto B = static_cast<double>(n);
  return {static_cast<double>(sum) / B, static_cast<double>(n * squares - sum * sum) / (B * B)};
}

double mean_of_squares_about(double about, const Values& column) {
  double sum = 0;
  for (const double v : column) sum += (v - about) * (v - about);
  return sum / static_cast<double>(column.size());
}

/// A running sum of so many squares loses a bit with each of them, and they may all go one way.
bool near(double yours, double right, const Case& c) {
  const double chain = static_cast<double>(c.rows) * 0x1p-24;
  const double unit = c.dtype == DType::f64 ? 0x1p-40 : std::max(0x1p-18, chain);
  return size_of(yours - right) <= unit * size_of(right);
}

// ---- What people write, and how it gives itself away.

std::string why_mean(const Case& c, const Values& x, double right, double yours) {
  const auto B = static_cast<double>(x.size());
  if (c.says != nullptr) return c.says;
  if (near(yours, right * B, c)) return "Your code gives the sum of the column, not its mean.";
  if (near(yours, right * B / static_cast<double>(c.columns), c))
    return "Your code divides by the number of columns: a mean is taken over the rows of the batch.";
  if (near(yours, right * B / (B - 1), c))
    return "Your code divides by B - 1 in the mean, which divides by B.";
  return "Your code does not give the mean of the column.";
}

std::string why_variance(const Case& c, const Values& x, const Moments& right, double yours) {
  const auto B = static_cast<double>(x.size());
  const auto is = [&](double v) { return near(yours, v, c); };
  if (c.says != nullptr) return c.says;
  if (is(right.variance * B)) return "Your code gives the sum of the squares, not their mean.";
  if (is(right.variance * B / (B - 1)))
    return "Your code divides by B - 1: that estimates the variance of all images there are. Batch norm "
           "wants that of this batch, and divides by B.";
  if (is(std::sqrt(right.variance)))
    return "Your code gives the deviation, the root of the variance. The root is taken later, with epsilon "
           "under it.";
  if (is(mean_of_squares_about(0, x)))
    return "Your code does not subtract the mean: that is the mean of x^2.";
  if (is(mean_of_squares_about(x[0], x)))
    return "Your code subtracts the first row, not the mean: it makes every deviation larger.";
  if (is(mean_of_squares_about(right.mean * B, x)))
    return "Your code subtracts the sum of the column, not its mean.";
  if (is(mean_of_squares_about(exact(column(c, 0)).mean, x)) ||
      is(mean_of_squares_about(exact(column(c, c.columns - 1)).mean, x)))
    return "Your code subtracts the mean of another column.";
  return "Your code does not give the variance of the column.";
}

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string shown(const Case& c, std::int64_t k, const Values& x) {
  std::string all = concat("\n  ", c.rows, " rows in ", c.dtype, ", sums in ", c.sums.format);
  if (c.sums.chunk > 0) all += concat(", in chunks of ", c.sums.chunk);
  all += concat("\n  column ", k, ": ");
  for (std::size_t i = 0; i < std::min<std::size_t>(x.size(), 4); ++i) all += " " + shown(x[i]);
  return all + (x.size() > 4 ? "  ..." : "");
}

std::pair<Values, Values> ask(Judge& judge, const Case& c) {
  Message request;
  put_tensor(request, tensor_of({c.rows, c.columns}, c.x, c.dtype));
  request.put(static_cast<std::int32_t>(c.sums.format)).put(c.sums.chunk);
  Message reply = judge.ask(request, [&] { return shown(c, 0, column(c, 0)).substr(1); });
  const auto columns = static_cast<std::size_t>(c.columns);
  Values means = reply.take_all<double>(columns);
  return {std::move(means), reply.take_all<double>(columns)};
}

void expect_moments(Judge& judge, const Case& c) {
  const auto [means, variances] = ask(judge, c);
  for (std::int64_t k = 0; k < c.columns; ++k) {
    const Values of_column = column(c, k);
    const Moments right = exact(of_column);
    const double mean = means[static_cast<std::size_t>(k)], variance = variances[static_cast<std::size_t>(k)];
    const bool finite = is_finite(right.mean);
    judge.expect(finite ? near(mean, right.mean, c) : !is_finite(mean), [&] {
      return why_mean(c, of_column, right.mean, mean) + shown(c, k, of_column) +
             "\n  mean:\n  expected = " + shown(right.mean) + "\n  yours    = " + shown(mean);
    });
    judge.expect(finite ? near(variance, right.variance, c) : !is_finite(variance), [&] {
      return why_variance(c, of_column, right, variance) + shown(c, k, of_column) +
             "\n  variance:\n  expected = " + shown(right.variance) + "\n  yours    = " + shown(variance);
    });
  }
}

/// Sums in FP16, as lesson 03 wants them: they stop at 2048 steps. 4096 ones have a mean of a half, 4096
/// squares of a half the sum 512.
void expect_narrow(Judge& judge, std::int64_t chunk, double right_mean, double right_variance) {
  const Case c{4096, 2, Values(2 * 4096, 1), DType::f16, {DType::f16, chunk}};
  const auto [means, variances] = ask(judge, c);
  judge.expect(means[0] == right_mean && means[1] == right_mean && variances[1] == right_variance,
               [&, &means = means, &variances = variances] {
                 return "Your code does not keep the sums as `sums` says; pass it to both of them. (Here "
                        "they are in FP16, and stop growing.)" +
                        shown(c, 1, column(c, 1)) +
                        "\n  mean and variance:\n  expected = " + shown(right_mean) + "  " +
                        shown(right_variance) + "\n  yours    = " + shown(means[1]) + "  " +
                        shown(variances[1]);
               });
}

Case drawn(Judge& judge, std::int64_t rows, std::int64_t columns, DType dtype, Accumulation sums) {
  Case c{rows, columns, Values(static_cast<std::size_t>(rows * columns)), dtype, sums};
  const std::int64_t spread = dtype == DType::bf16 ? 100 : 1000;
  for (std::size_t i = 0; i < c.x.size(); ++i) {
    const std::int64_t height = static_cast<std::int64_t>(i) % columns * 37 % spread;
    const std::int64_t whole = height + judge.draw_below(spread);
    c.x[i] = static_cast<double>(whole);  // below 200 in BF16, which has them all
  }
  return c;
}

}  // namespace

void check(Judge& judge) {
  expect_moments(judge, {3, 1, {1, 3, 8}});
  expect_moments(judge, {3, 2, {1, 10, 3, 20, 8, 0}});
  expect_moments(judge, {4096,
                         2,
                         Values(2 * 4096, 1),
                         DType::f16,
                         {},
                         "Your code sums in FP16, and such a sum stops growing at 2048. `sums` asks for FP32 "
                         "here: pass it on as it comes."});
  expect_moments(judge, {3, 2, {1001, 0, 1001, 0, 1001, 0}});
  expect_moments(judge, {1, 2, {5, -7}});
  expect_moments(judge, {2,
                         1,
                         {0, 1000},
                         DType::f16,
                         {},
                         "Your code rounds a square to FP16: 500^2 is beyond 65504. Widened values stay wide "
                         "until mean and variance are stored, in FP32."});
  const char* const cancels =
      "Your code takes the mean of the squares minus the square of the mean: two large numbers whose "
      "difference is small, and FP32 keeps 7 digits of each. Subtract the mean from every value first, then "
      "square.";
  expect_moments(judge, {4, 1, {4096, 4097, 4098, 4099}, DType::f32, {}, cancels});
  expect_moments(judge, {3, 2, {100000, -100000, 100001, -100001, 100005, -100005}, DType::f32, {}, cancels});
  expect_narrow(judge, 0, 0.5, 0.125);
  expect_narrow(judge, 64, 1, 0);
  expect_moments(judge, {2, 3, {1, nan, 3, 5, 2, 7}});
  expect_moments(judge, {2, 3, {1, 2, infinity, 5, 2, 7}});
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    for (const std::int64_t columns : {1, 3, 127, 128, 129, 300})
      for (const std::int64_t rows : {2, 5, 33})
        expect_moments(judge, drawn(judge, rows, columns, dtype, {}));
    expect_moments(judge, drawn(judge, 1000, 3, dtype, {}));  // several blocks of rows
    expect_moments(judge, drawn(judge, 1000, 3, dtype, {DType::f32, 64}));
    expect_moments(judge, drawn(judge, 70, 130, dtype, {DType::f32, 7}));
  }
}

}  // namespace tinymp::exercise
