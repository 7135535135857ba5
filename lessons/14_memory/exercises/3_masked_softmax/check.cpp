// Exercise 14.3: softmax over what is seen, asked through the kernel that attention calls.

#include <lessons/14_memory/exercises/3_masked_softmax/oracle.h>
#include <lessons/lab/classroom/judge.h>
#include <tinymp/base/error.h>
#include <string>

namespace tinymp::exercise {
namespace {

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
  if (top - *std::min_element(begin, end_of_seen) > 80)
    return "Your code subtracts another score than the largest of those that are seen: exp of what is far "
           "above it is infinite, and infinity / infinity is NaN.";
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

/// The factor of the scores that explains the first two different shares; NaN where none does.
double scale_in(const Trial& t, const Row& row, std::span<const double> yours) {
  for (std::size_t c = 1; c < row.seen; ++c)
    if (row.scores[c] != row.scores[0] && yours[c] > 1e-4 && yours[0] > 1e-4)
      return t.scale * (log(yours[c]) - log(yours[0])) / (row.scores[c] - row.scores[0]);
  return nan;
}

std::string why_scale(const Trial& t, const Row& row, std::span<const double> yours) {
  const double scale = t.scale == 1 ? nan : scale_in(t, row, yours);
  if (is_nan(scale)) return {};
  std::vector<double> scores = row.scores;
  for (double& v : scores) v *= scale / t.scale;
  if (!are_right(t, yours, shares_of(scores, row.seen), 0x1p-8)) return {};
  return size_of(scale - 1) < 1e-2 ? "Your code forgets the scale."
                                   : "Your code multiplies by another scale than the one that it is given.";
}

std::string why_sum(const Row& row, std::span<const double> yours) {
  if (std::all_of(yours.begin(), yours.begin() + static_cast<std::ptrdiff_t>(row.seen),
                  [](double v) { return v == 0; }))
    return "Your sum is infinite: there are so many scores, and so large, that each share is a number / "
           "infinity. Subtract the largest of those that are seen.";
  return "Your shares do not add up to 1: the sum has to go over what is seen, no further, and in FP32.";
}

/// True if all shares but those below 1 in 1000 are right.
bool only_small_are_wrong(const Trial& t, std::span<const double> yours, const std::vector<double>& right) {
  for (std::size_t c = 0; c < right.size(); ++c)
    if (size_of(yours[c] - right[c]) > (right[c] < 1e-3 ? 1e-3 : tolerance(t, right[c]))) return false;
  return true;
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
  if (const std::string other = why_scale(t, row, yours); !other.empty()) return other;
  if (sum < 0.99 || sum > 1.01) return why_sum(row, yours);
  if (only_small_are_wrong(t, yours, right))
    return "Your small shares are wrong: far below the largest score, e^(score - top) is cut off, or top is "
           "not the largest score, and what is small falls among the subnormal numbers.";
  if (are_right(t, yours, right, 0x1p-8))
    return "Your shares have some three right digits: something was rounded to 16 bits on the way. Only the "
           "result is, where it is stored.";
  return "Your shares are not the softmax of what is seen.";
}

std::string shown(double v) { return decimal(static_cast<float>(v)); }

std::string shown(std::span<const double> values) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(values.size(), 6); ++i)
    text += (i > 0 ? "  " : "") + shown(values[i]);
  return text + (values.size() > 6 ? concat("  ... (", values.size(), ")") : "");
}

/// True if the definition says NaN: infinity - infinity, or a NaN.
bool has_no_softmax(const Row& row) {
  const auto below_infinity = [](double v) { return v < infinity; };
  return row.seen > 0 && (!std::ranges::all_of(row.seen_scores(), below_infinity) ||
                          std::ranges::none_of(row.seen_scores(), is_finite));
}

/// What is seen is NaN then, and the rest 0: a NaN stays in its own row, and the log shows it.
void expect_nan(Judge& judge, const Row& row, std::span<const double> yours) {
  const auto seen = yours.first(row.seen), rest = yours.subspan(row.seen);
  const bool is_right =
      std::ranges::all_of(seen, is_nan) && std::ranges::all_of(rest, [](double v) { return v == 0; });
  judge.expect(is_right, [&] {
    return concat(
        std::ranges::any_of(row.seen_scores(), is_nan)
            ? "Your code hides a NaN of a score that is seen."
            : "Your code hides an infinity: infinity - infinity is NaN, for +infinity in a row, and for a "
              "row of -infinity alone.",
        " All shares of what is seen are NaN then, and all others 0.\n  scores   = ", shown(row.scores),
        "\n  expected = NaN for ", row.seen, " of ", row.scores.size(), " keys\n  yours    = ", shown(yours));
  });
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
    if (has_no_softmax(row)) {
      expect_nan(judge, row, yours);
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

/// A scale of 12 bits: times scores of 12 bits it is exact.
double drawn_scale(Judge& judge) { return static_cast<double>(1 + judge.draw_below(4095)) / 1024; }

/// Rows whose scores fall, rise, or have their top anywhere, and lie far apart. The largest is `height`.
Trial far_apart(Judge& judge, double height, DType in, DType out) {
  Trial t{.shape = {5, 1, 1, 41}, .scores = {}, .in = in, .out = out};
  for (std::int64_t r = 0; r < 5; ++r) {
    const std::int64_t seen = 2 + judge.draw_below(39), any = judge.draw_below(seen);
    const std::int64_t top = r == 0 ? 0 : r == 1 ? seen - 1 : any;
    const auto step = static_cast<double>(1 + judge.draw_below(r < 2 ? 8 : 200));
    t.lengths.push_back(static_cast<std::int32_t>(seen));
    for (std::int64_t c = 0; c < 41; ++c) {
      const std::int64_t away = r < 2 || c == top ? (c < top ? top - c : c - top) : 1 + judge.draw_below(3);
      t.scores.push_back(height - step * static_cast<double>(away));
    }
  }
  return t;
}

/// Many equal scores: each exp is finite, and their sum is not. Then some whose exp is subnormal.
void run_tall(Judge& judge, DType in) {
  const double height = in == f64 ? 700 : 79;
  run(judge,
      {.shape = {1, 1, 1, 100000}, .scores = std::vector<double>(100000, height), .in = in, .out = in});
  run(judge,
      {.shape = {1, 1, 1, 3}, .scores = {-height - 10, -height - 20, -height - 25}, .in = in, .out = in});
}

/// Rows at very different heights; what lies behind the lengths is anything.
Trial drawn(Judge& judge, Shape shape, bool causal, bool padded, DType in, DType out) {
  Trial t{.shape = shape, .scores = {}, .scale = drawn_scale(judge), .causal = causal, .in = in, .out = out};
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
  run(judge, one({-70000, -70001, 0, 9}, 2));
  run(judge, one({-1e30, -1e30, 0, 9}, 2));
  run(judge, one({lowest, lowest, 0, 9}, 2));
  run(judge, one({1, 2, 3}, 0));
  run(judge, one({-200, -201, 0}, 2));
  run(judge, one({-infinity, 2, 3, 1}, 3));
  run(judge, one({0, 100, -100}, 3));
  run(judge, one({100, 0, -100}, 3));
  run(judge, one({-100, 0, -100}, 3));
  run(judge, one({0, -30, -60, -80}, 4));
  run(judge, one({2, 3, infinity}, 2));
  run(judge, one({2, 3, -infinity}, 2));
  run(judge, one({2, 3, nan}, 2));
  run(judge, one({nan, infinity}, 0));
  run(judge, {.shape = {1, 1, 3, 3}, .scores = {1, 2, 3, 4, 5, 6, 1, nan, 2}});
  run(judge, {.shape = {1, 1, 3, 3}, .scores = {1, 2, 3, 4, 5, 6, 7, 8, 9}, .scale = 0.5, .causal = true});
  run(judge, {.shape = {2, 2, 1, 3}, .scores = {1, 2, 3, 3, 2, 1, 1, 2, 3, 3, 2, 1}, .lengths = {3, 1}});
  run(judge, {.shape = {1, 1, 3, 3}, .scores = {1, 2, 3, 4, 5, 6, 7, 8, 9}, .scale = 0.375});
  run(judge, one({nan, 1, 2}, 2));
  run(judge, one({1, nan, 2}, 2));
  run(judge, one({1, infinity, 2}, 2));
  run(judge, one({-infinity, -infinity, 2}, 2));
  Trial two_groups{.shape = {1, 1, 3, 500}, .scores = {}, .causal = true};
  for (int i = 0; i < 1500; ++i) two_groups.scores.push_back(i % 7);
  run(judge, two_groups);
  run_tall(judge, f32);
  run_tall(judge, f64);
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
    for (const double height : {0, 70, -70, 500, -500, 2000, -2000})
      for (int i = 0; i < 3; ++i) run(judge, far_apart(judge, height, in, out));
    Trial low = one({-65504, -65504, -65504, 0, 9}, 3);
    low.in = in, low.out = out;
    run(judge, low);
  }
}

}  // namespace tinymp::exercise
