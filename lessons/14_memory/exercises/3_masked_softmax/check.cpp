// Exercise 14.3: softmax over what is seen, asked through the kernel that attention calls. The oracle adds up logarithms,
// score by score, in double.

#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/tensors.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>
#include <limits>
#include <span>

namespace tinymp::exercise {
namespace {

using enum DType;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

bool is_nan(double v) { return v != v; }
double size_of(double v) { return v < 0 ? -v : v; }

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
};

Row row_of(const Trial& t, const std::vector<double>& read, std::size_t r) {
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
double log_of_sum(std::span<const double> scores) {
  double so_far = -infinity;
  for (const double v : scores) {
    const double high = std::max(so_far, v), low = std::min(so_far, v);
    so_far = low == -infinity ? high : high + log(1 + exp(low - high));
  }
  return so_far;
}

/// The shares of the first `over` scores of a row; 0 for all others.
std::vector<double> shares_of(const std::vector<double>& scores, std::size_t over) {
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
double tolerance(const Trial& t, double right) {
  const double unit = t.out == f16                  ? 0x1p-11
                      : t.out == bf16               ? 0x1p-8
                      : t.in == f64 && t.out == f64 ? 0x1p-40
                                                    : 0x1p-19;
  const double grid = t.out == f16 ? 0x1p-25 : 1e-38;
  return 1.001 * unit * right + 1e-6 * (t.in == f64 ? 1e-6 : 1) * right + grid;
}

bool are_right(const Trial& t, std::span<const double> yours, const std::vector<double>& right,
               double unit = 0) {
  for (std::size_t c = 0; c < right.size(); ++c)
    if (is_nan(yours[c]) || size_of(yours[c] - right[c]) > tolerance(t, right[c]) + unit * right[c])
      return false;
  return true;
}

// ---- What people write, and how it gives itself away.

/// What a row would be if its own mask were not the one that counts.
bool sees(const Trial& t, const Row& row, std::span<const double> yours, std::size_t seen) {
  return seen > 0 && seen <= row.scores.size() && are_right(t, yours, shares_of(row.scores, seen));
}

std::string why_nothing_seen(std::span<const double> yours) {
  if (std::ranges::any_of(yours, is_nan))
    return "Your code gives NaN to a row that sees nothing: it divides by a sum of 0, or subtracts infinity "
           "from infinity. Such a row is all 0.";
  return "Your code gives shares to a row that sees nothing: every masked score has the same value there, "
         "and a softmax of equal values is 1 / columns. Such a row is all 0.";
}

std::string why_nan(const Row& row) {
  const auto begin = row.scores.begin(), end_of_seen = begin + static_cast<std::ptrdiff_t>(row.seen);
  const bool odd =
      std::any_of(end_of_seen, row.scores.end(), [](double v) { return !(size_of(v) < infinity); });
  if (odd)
    return "Your code lets in what a row does not see: 0 x infinity is NaN, and so is a NaN that is added "
           "to. End the loop at the last key that is seen.";
  const double top = *std::max_element(begin, end_of_seen);
  if (top > 80)
    return "Your code does not subtract the largest score: exp of 89 is infinite in FP32, and infinity / "
           "infinity is NaN.";
  if (*std::max_element(begin, row.scores.end()) > top + 80)
    return "Your code subtracts the largest score of the whole row. Where one that is masked is larger by "
           "104 "
           "or more, exp of all that is seen is 0 in FP32, and 0 / 0 is NaN. Take the largest of those that "
           "are "
           "seen.";
  return "Your mask multiplies by infinity: 0 x infinity is NaN where a key is seen. FP16 has infinity for "
         "1e9.";
}

std::string why(const Trial& t, const Row& row, std::span<const double> yours, std::size_t r,
                const std::vector<double>& read) {
  const std::size_t columns = row.scores.size();
  if (row.seen == 0) return why_nothing_seen(yours);
  if (std::ranges::any_of(yours, is_nan)) return why_nan(row);
  const std::vector<double> right = shares_of(row.scores, row.seen);
  double sum = 0, leaked = 0;
  for (std::size_t c = 0; c < columns; ++c) (c < row.seen ? sum : leaked) += yours[c];
  if (sees(t, row, yours, columns) && row.seen < columns)
    return "Your code does not mask: a row sees every key.";
  if (sees(t, row, yours, row.seen + 1)) return "Your mask is one key too wide.";
  if (sees(t, row, yours, row.seen - 1)) return "Your mask is one key too narrow.";
  for (std::size_t other = 0; other < read.size() / columns; ++other)
    if (other != r && sees(t, row, yours, row_of(t, read, other).seen))
      return "Your code gives a row the mask of another: row r here is row first + r of the mask.";
  if (leaked > 0)
    return "Your mask is a finite number: scores may be further below, and then what is masked gets a share. "
           "Leave it out instead.";
  if (t.scale != 1) {
    std::vector<double> unscaled = row.scores;
    for (double& v : unscaled) v /= t.scale;
    if (are_right(t, yours, shares_of(unscaled, row.seen))) return "Your code forgets the scale.";
  }
  if (are_right(t, yours, right, 0x1p-8))
    return "Your shares have some three right digits: something was rounded to 16 bits on the way. Only the "
           "result is, where it is stored.";
  if (sum < 0.99 || sum > 1.01)
    return "Your shares do not add up to 1: the sum has to go over what is seen, no further, and in FP32.";
  return "Your shares are not the softmax of what is seen.";
}

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string shown(std::span<const double> values) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 6); ++i)
    text += (i > 0 ? "  " : "") + shown(values[i]);
  return text + (values.size() > 6 ? concat("  ... (", values.size(), ")") : "");
}

void run(Judge& judge, const Trial& t) {
  const Tensor scores = tensor_of(t.shape, t.scores, t.in);
  Message request;
  put_tensor(request, scores);
  request.put(t.out).put(t.scale).put(std::int32_t{t.causal}).put_all(t.lengths);
  const std::vector<double> all =
      judge.ask(request, [&] { return concat("  scores ", t.shape, " in ", t.in, ", shares in ", t.out); })
          .take_all<double>(t.scores.size());
  const std::vector<double> read = scores.to_doubles();
  const auto columns = static_cast<std::size_t>(t.shape[3]);
  for (std::size_t r = 0; r < all.size() / columns; ++r) {
    const std::span<const double> yours = std::span(all).subspan(r * columns, columns);
    const Row row = row_of(t, read, r);
    const bool has_nan =
        std::any_of(row.scores.begin(), row.scores.begin() + static_cast<std::ptrdiff_t>(row.seen), is_nan);
    if (has_nan) {  // it may spread in its own row only
      judge.expect(std::ranges::any_of(yours, is_nan), [&] {
        return "Your code hides a NaN of a score that is seen.\n  expected = NaN\n  yours    = " +
               shown(yours);
      });
      continue;
    }
    const std::vector<double> right = shares_of(row.scores, row.seen);
    judge.expect(are_right(t, yours, right), [&] {
      return why(t, row, yours, r, read) + concat("\n  scores in ", t.in, ", shares in ", t.out) +
             concat(", row ", r, ", which sees ", row.seen, " of ", columns, " keys") +
             "\n  scores   = " + shown(row.scores) + "\n  expected = " + shown(right) +
             "\n  yours    = " + shown(yours);
    });
  }
}

/// One text with one head.
Trial one(std::vector<double> row, std::int32_t length) {
  const auto columns = static_cast<std::int64_t>(row.size());
  return {.shape = {1, 1, 1, columns}, .scores = std::move(row), .lengths = {length}};
}

/// Rows at very different heights; what lies behind the lengths is anything.
Trial drawn(Judge& judge, Shape shape, bool causal, bool padded, DType in, DType out) {
  Trial t{.shape = shape, .scores = {}, .scale = 0.125, .causal = causal, .in = in, .out = out};
  const std::int64_t columns = shape[3];
  for (std::int64_t b = 0; padded && b < shape[0]; ++b)
    t.lengths.push_back(static_cast<std::int32_t>(judge.draw_below(columns + 1)));
  constexpr double odd[] = {infinity, -infinity, nan, 60000};
  for (std::int64_t r = 0; r < shape[0] * shape[1] * shape[2]; ++r) {
    const double height = static_cast<double>(judge.draw_below(4096)) - 2048;
    const std::int64_t length =
        padded ? t.lengths[static_cast<std::size_t>(r / (shape[1] * shape[2]))] : columns;
    for (std::int64_t c = 0; c < columns; ++c)
      t.scores.push_back(c >= length || (causal && c > r % shape[2])
                             ? odd[judge.draw_below(4)]
                             : height + static_cast<double>(judge.draw_below(64)));
  }
  return t;
}

}  // namespace

void check(Judge& judge) {
  run(judge, one({0, 0}, 2));
  run(judge, one({1, 2, 3}, 3));
  run(judge, one({1, 2, 3, 4}, 2));
  run(judge, one({100, 99, 98}, 2));
  run(judge, one({3, 2, 400}, 2));
  run(judge, one({-10000, -10001, 0}, 2));
  run(judge, one({-30000, -30001, 0}, 2));
  run(judge, one({1, 2, 3}, 0));
  run(judge, one({-200, -201, 0}, 2));
  run(judge, one({-infinity, 2, 3, 1}, 3));
  run(judge, one({2, 3, infinity}, 2));
  run(judge, one({2, 3, -infinity}, 2));
  run(judge, one({2, 3, nan}, 2));
  run(judge, one({nan, infinity}, 0));
  run(judge, {.shape = {1, 1, 3, 3}, .scores = {1, 2, 3, 4, 5, 6, 1, nan, 2}});
  run(judge, {.shape = {1, 1, 3, 3}, .scores = {1, 2, 3, 4, 5, 6, 7, 8, 9}, .scale = 0.5, .causal = true});
  run(judge, {.shape = {2, 2, 1, 3}, .scores = {1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1}, .lengths = {3, 1}});
  Trial two_groups{.shape = {1, 1, 3, 500}, .scores = {}, .causal = true};
  for (int i = 0; i < 1500; ++i) two_groups.scores.push_back(i % 7);
  run(judge, two_groups);
  const std::pair<DType, DType> formats[] = {{f32, f32}, {f32, f16}, {f32, bf16}, {f16, f16}, {f64, f64}};
  for (const auto& [in, out] : formats) {
    for (const bool causal : {false, true}) {
      for (const bool padded : {false, true}) {
        for (const std::int64_t steps : {1, 3, 10, 64, 100})
          run(judge, drawn(judge, {2, 3, steps, steps}, causal, padded, in, out));
        run(judge, drawn(judge, {2, 1, 1, 1500}, false, padded, in, out));
      }
    }
    Trial alike{.shape = {1, 1, 1, 5000}, .scores = std::vector<double>(5000, 0.5), .in = in, .out = out};
    run(judge, alike);  // a sum in FP16 ends at 2048
  }
}

}  // namespace tinymp::exercise
