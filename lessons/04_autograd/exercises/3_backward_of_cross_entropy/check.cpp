// Exercise 4.3: backward of cross-entropy, by the kernel that training runs. The oracle has no logarithm: the
// softmax of a row as exp(x - largest) / their sum, in double.

#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/tensors.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::exercise {
namespace {

using Values = std::vector<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool is_nan(double v) { return v != v; }
double size_of(double v) { return v < 0 ? -v : v; }

struct Case {
  std::int64_t batch, columns;
  Values logits;
  std::vector<std::int32_t> labels;
  double dloss = 1;
  DType dtype = DType::f32;
  const char* says = nullptr;  ///< of a case that only one mistake fails
};

/// What the oracle and all that people write is made of: of each logit its softmax, and the two parts of the
/// log sum exp of its row.
struct Parts {
  Values logits, softmax;  ///< logits as they are in their format
  Values tops, log_sums;   ///< of each row
};

Parts parts_of(const Case& c, const Tensor& logits) {
  Parts parts{logits.to_doubles(), {}, {}, {}};
  for (std::int64_t r = 0; r < c.batch; ++r) {
    const auto row = parts.logits.begin() + r * c.columns;
    const double top = *std::max_element(row, row + c.columns);
    double sum = 0;
    for (std::int64_t i = 0; i < c.columns; ++i) sum += exp(row[i] - top);
    for (std::int64_t i = 0; i < c.columns; ++i) parts.softmax.push_back(exp(row[i] - top) / sum);
    parts.tops.push_back(top);
    parts.log_sums.push_back(log(sum));
  }
  return parts;
}

double hot(const Case& c, std::int64_t i) {
  return c.labels[static_cast<std::size_t>(i / c.columns)] == i % c.columns ? 1 : 0;
}

/// Rounded once, to the format of dlogits.
double rounded(double v, DType dtype) { return tensor_of({1}, {v}, dtype).to_doubles()[0]; }

/// Of a gradient whose softmax is p: a step of the format, where float arithmetic ends up beside a tie; the
/// error of p, for a logit of -16 below the top is itself 2^-20 off; and that of p - 1 at the label.
double tolerance(const Case& c, double right, double p, double is_label) {
  const double step = c.dtype == DType::f16    ? 0x1p-10
                      : c.dtype == DType::bf16 ? 0x1p-7
                      : c.dtype == DType::f32  ? 0x1p-20
                                               : 0x1p-40;
  const double smallest = c.dtype == DType::f16 ? 0x1p-24 : 0;
  const double unit = c.dtype == DType::f64 ? 0x1p-46 : 0x1p-22;
  const double share = size_of(c.dloss) / static_cast<double>(c.batch);
  return std::max(size_of(right) * step, smallest) + share * unit * (8 * p + is_label);
}

// ---- What people write, and how it gives itself away.

std::string why(const Case& c, const Parts& parts, std::int64_t i, double right, double yours) {
  const auto at = static_cast<std::size_t>(i);
  const double p = parts.softmax[at], y = hot(c, i), B = static_cast<double>(c.batch), S = c.dloss;
  const auto is = [&](double v) { return size_of(yours - rounded(v, c.dtype)) <= tolerance(c, v, p, y); };
  if (c.says != nullptr) return c.says;
  if (is(parts.logits[at]))
    return "Your code hands the logits back as they are: their gradient is yours to write.";
  if (is(-right))
    return "Your code has the sign wrong: softmax minus one-hot, so that the label's logit, which goes "
           "against the "
           "gradient, grows.";
  if (is(p * S / B)) return "Your code gives the softmax; the label's logit has 1 less.";
  if (is((p - 1) * S / B)) return "Your code takes 1 from every logit; only that of the label has 1 less.";
  if (is((p - y) * S)) return "Your code does not divide by the batch: the loss is a mean over its rows.";
  if (is((p - y) * S / static_cast<double>(c.columns)))
    return "Your code divides by the number of columns; the loss is a mean over the rows of the batch.";
  if (is((p - y) / B))
    return "Your code forgets dloss: it carries the loss scale, and all that follows has to carry it too.";
  if (is(p - y)) return "Your code neither divides by the batch nor multiplies by dloss.";
  if (is((exp(parts.logits[at]) - y) * S / B) || yours == infinity || yours == -infinity)
    return "Your code takes exp(logit), which is no share of 1: the softmax is exp((logit - top) - log_sum).";
  if (is(((p - y) * S - y * (1 - S)) / B) || is((p * S - y) / B) || is(p * S / B - y))
    return "Your code leaves the one-hot 1 as it is: it has to be multiplied and divided as the softmax is.";
  return "Your gradient is not (softmax - one-hot) dloss / batch.";
}

/// A row of a later group, computed with the label or the sum of another row.
std::string why_row(const Case& c, const Parts& parts, std::int64_t i, const Values& yours) {
  const std::int64_t r = i / c.columns, begin = r * c.columns;
  const double share = c.dloss / static_cast<double>(c.batch);
  std::int64_t ones = 0, other = -1;
  for (std::int64_t k = 0; k < c.columns; ++k) {
    const double off = yours[static_cast<std::size_t>(begin + k)] -
                       parts.softmax[static_cast<std::size_t>(begin + k)] * share;
    if (size_of(off + share) < share / 64) other = k, ++ones;
  }
  if (r > 0 && ones == 1 && other != c.labels[static_cast<std::size_t>(r)])
    return "Your code takes the label of another row: row r of a group is row b + r of the batch.";
  double sum = 0;  // of a row's gradients: 0
  for (std::int64_t k = 0; k < c.columns; ++k) sum += yours[static_cast<std::size_t>(begin + k)];
  if (r > 0 && size_of(sum) > share / 64)
    return "Your code takes the top or the log_sum of another row: row r of a group is row b + r of the "
           "batch.";
  return "";
}

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string shown(const Case& c, const Parts& parts, std::int64_t i) {
  const std::int64_t r = i / c.columns;
  std::string row;
  for (std::int64_t k = 0; k < std::min<std::int64_t>(c.columns, 4); ++k)
    row += shown(parts.logits[static_cast<std::size_t>(r * c.columns + k)]) + "  ";
  return concat("\n  batch ", c.batch, ", logits in ", c.dtype, ", dloss ", c.dloss, ", row ", r, ", label ",
                c.labels[static_cast<std::size_t>(r)], "\n  logits   = ", row, c.columns > 4 ? "..." : "",
                "\n  gradient of logit ", i % c.columns, ":");
}

void expect_gradients(Judge& judge, const Case& c) {
  const DType wide = c.dtype == DType::f64 ? DType::f64 : DType::f32;
  const Tensor logits = tensor_of({c.batch, c.columns}, c.logits, c.dtype);
  const Parts parts = parts_of(c, logits);
  Message request;
  put_tensor(request, logits);
  put_tensor(request, tensor_of({c.batch}, parts.tops, wide));
  put_tensor(request, tensor_of({c.batch}, parts.log_sums, wide));
  put_tensor(request, tensor_of({}, {c.dloss}, wide));
  request.put_all(c.labels);
  Message reply = judge.ask(request, [&] { return concat("  batch ", c.batch, ", logits in ", c.dtype); });
  const Values yours = reply.take_all<double>(parts.logits.size());
  const Values logits_now = reply.take_all<double>(parts.logits.size());
  for (std::int64_t i = 0; i < c.batch * c.columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const double exact = (parts.softmax[at] - hot(c, i)) * c.dloss / static_cast<double>(c.batch);
    const double right = rounded(exact, c.dtype);
    const bool good = is_nan(right) ? is_nan(yours[at])
                      : size_of(right) == infinity
                          ? yours[at] == right
                          : size_of(yours[at] - right) <= tolerance(c, right, parts.softmax[at], hot(c, i));
    judge.expect(good, [&] {
      const std::string of_row = c.says == nullptr && c.batch > 100 ? why_row(c, parts, i, yours) : "";
      return (of_row.empty() ? why(c, parts, i, right, yours[at]) : of_row) + shown(c, parts, i) +
             "\n  expected = " + shown(right) + "\n  yours    = " + shown(yours[at]) +
             (c.dtype == DType::f16
                  ? "\n  in bits    " + half_fields(half(static_cast<float>(right)).bits()) +
                        "\n             " + half_fields(half(static_cast<float>(yours[at])).bits())
                  : "");
    });
  }
  judge.expect(logits_now == parts.logits || c.logits != c.logits, [&] {
    return std::string(
        "Your code writes over the logits.\n  expected = the logits as they were\n  yours    = others");
  });
}

Case drawn(Judge& judge, std::int64_t batch, std::int64_t columns, double dloss, DType dtype) {
  Case c{batch, columns, {}, {}, dloss, dtype};
  for (std::int64_t r = 0; r < batch; ++r) {
    const auto height = static_cast<double>(judge.draw_below(64) - 32);  // a row's own: log_sums differ
    c.labels.push_back(static_cast<std::int32_t>(judge.draw_below(columns)));
    for (std::int64_t k = 0; k < columns; ++k)
      c.logits.push_back(height + static_cast<double>(judge.draw_below(1024)) / 128);
  }
  return c;
}

}  // namespace

void check(Judge& judge) {
  expect_gradients(judge, {1, 2, {1, 2}, {0}});
  expect_gradients(judge, {1, 2, {5, 3}, {0}});
  expect_gradients(judge, {1, 3, {1, 2, -1}, {2}});
  expect_gradients(judge, {2, 3, {1, 2, -1, 0.5, 0.25, 4}, {2, 0}});
  expect_gradients(judge, {1, 3, {1, 2, -1}, {1}, 1024});
  expect_gradients(judge, {4, 2, {1, 2, 3, -1, 0, 0, 60, -60}, {0, 1, 0, 0}, 0.5});
  expect_gradients(judge, {1, 3, {100, 99, -100}, {1}});
  const char* const once =
      "Your code rounds the softmax to FP16 before it is multiplied by dloss: a share below 2^-25 became 0. "
      "The "
      "loss scale "
      "is there to save it; compute in FP32 and round once.";
  expect_gradients(judge, {1, 2, {0, -18}, {0}, 65536, DType::f16, once});
  expect_gradients(judge, {1,
                           2,
                           {0, 0.5},
                           {0},
                           1e6,
                           DType::f16,
                           "Your code hides an overflow: beyond 65504 a gradient in FP16 is infinite; the "
                           "loss scaler wants to see it."});
  expect_gradients(judge,
                   {2,
                    2,
                    {0, 0, 0, 0},
                    {0, 1},
                    3e38,
                    DType::f32,
                    "Your code overflows on the way: dloss / batch is no overflow where dloss is none."});
  const char* const apart =
      "Your code adds top and log_sum first, and a float keeps only the larger of them: keep them apart, "
      "(logit - "
      "top) - log_sum.";
  expect_gradients(judge, {1, 2, {1e7, 1e7}, {0}, 1, DType::f32, apart});
  expect_gradients(judge, {1, 3, {-1e30, -1e30, -1e30}, {2}, 1, DType::f32, apart});
  expect_gradients(judge, {3, 2, {1, 2, nan, 1, 2, 1}, {0, 0, 0}});
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    expect_gradients(judge, drawn(judge, 300, 10, 1, dtype));  // several groups of rows
    expect_gradients(judge, drawn(judge, 7, 3, 1024, dtype));
    expect_gradients(judge, drawn(judge, 5, 1500, 512, dtype));  // a row is longer than a block
    expect_gradients(judge, drawn(judge, 1100, 1, 8, dtype));
    expect_gradients(judge, drawn(judge, 1, 64, -3, dtype));
  }
}

}  // namespace tinymp::exercise
