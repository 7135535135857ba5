#include <fmt/format.h>
#include <lessons/14_memory/by_hand.h>
#include <lessons/14_memory/questions.h>
#include <tinymp/base/rng.h>
#include <algorithm>
#include <cmath>

// Attention on tensors: what long texts, undivided scores and masks do in FP16.
namespace tinymp::lab {
namespace {

double sum_of(const Tensor& x) {
  double sum = 0;
  for (const double value : x.to_doubles()) sum += value;
  return sum;
}

/// About normal, with mean 0: sums of 12 uniform numbers.
std::vector<float> normal(std::int64_t count, float deviation, Rng& rng) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; ++i) {
    float sum = 0;
    for (int n = 0; n < 12; ++n) sum += rng.uniform(-0.5f, 0.5f);
    values.push_back(deviation * sum);
  }
  return values;
}

void show_softmax_sums(Lab& lab) {
  lab.say("\nA softmax over T scores in FP16: the sum of its shares, which should be 1");
  lab.say("             equal scores        random scores");
  lab.say("      T  FP16 sum softmax()   FP16 sum softmax()");
  Rng rng = Rng(lab.options().first_seed).split(14);
  const ByHand::Softmax wide_sum =
      lab.sabotaged("softmax") ? ByHand::Softmax::fp16_sum : ByHand::Softmax::fused;
  double off_at_4096 = 0, fused_at_4096 = 0;
  for (const std::int64_t T : {64, 256, 1024, 4096, 16384}) {
    const auto count = static_cast<std::size_t>(T);
    const Tensor equal = Tensor::from({1, T}, std::vector<float>(count, 1), DType::f16),
                 random = Tensor::from({1, T}, normal(T, 1, rng), DType::f16);
    std::string line = fmt::format("  {:>5}", T);
    for (const Tensor& scores : {equal, random}) {
      const double narrow = sum_of(softmax_by_hand(scores, ByHand::Softmax::fp16_sum)),
                   fused = sum_of(softmax_by_hand(scores, wide_sum));
      line += fmt::format(" {:>9.4f} {:>9.4f} ", narrow, fused);
      if (T == 4096 && scores.id() == equal.id()) off_at_4096 = narrow, fused_at_4096 = fused;
    }
    lab.say(line.substr(0, line.find_last_not_of(' ') + 1));
  }
  lab.claim(off_at_4096 >= 1.9 && std::abs(fused_at_4096 - 1) <= 0.001,
            fmt::format("4096 equal scores: shares summed in FP16 add up to {}, those of softmax() to {}",
                        fixed(off_at_4096, 2), fixed(fused_at_4096, 2)),
            Lab::Judged::in_smoke_too);
}

/// A head that asks some questions of T tokens.
struct Head {
  static constexpr std::int64_t rows = 16, T = 4096;
  std::int64_t d;
  std::vector<float> q, k, v;

  Head(std::int64_t d, float deviation, Rng& rng)
      : d(d),
        q(normal(rows * d, deviation, rng)),
        k(normal(T * d, deviation, rng)),
        v(normal(T * d, 1, rng)) {}

  /// q k^T in the format `dtype`, and divided by sqrt d after that.
  Tensor scores(DType dtype, bool root) const {
    const Tensor s = matmul_transposed(of({rows, d}, q, dtype), of({T, d}, k, dtype));
    return root ? scale(s, 1 / std::sqrt(static_cast<float>(d))) : s;
  }
  Tensor attended(const Tensor& p) const { return matmul(p, of({T, d}, v, p.dtype())); }
  /// The op, which divides in FP32.
  Tensor attended(DType dtype) const {
    return reshape(attention(of({1, rows, d}, q, dtype), of({1, T, d}, k, dtype), of({1, T, d}, v, dtype)),
                   {rows, d});
  }

 private:
  /// All formats are given the same numbers, those of FP16.
  static Tensor of(const Shape& shape, const std::vector<float>& values, DType dtype) {
    return cast(Tensor::from(shape, values, DType::f16), dtype);
  }
};

/// The root of the mean square of the differences, in % of that of the exact values.
std::string off(const Tensor& found, const Tensor& exact) {
  const std::vector<double> a = found.to_doubles(), b = exact.to_doubles();
  double apart = 0, all = 0;
  for (std::size_t i = 0; i < a.size(); ++i) apart += (a[i] - b[i]) * (a[i] - b[i]), all += b[i] * b[i];
  const double percent = 100 * std::sqrt(apart / all);
  return std::isnan(percent) ? "NaN" : fmt::format("{:.2g} %", percent);
}

void show_scores(Lab& lab, const Head& head, bool root) {
  const Tensor scores = head.scores(DType::f16, root), p = softmax(scores),
               exact = head.attended(softmax(head.scores(DType::f64, root)));
  double highest = 0, zeros = 0, share = 0;
  for (const double s : scores.to_doubles()) highest = std::max(highest, std::abs(s));
  for (const double x : p.to_doubles()) zeros += x == 0, share = x > share || std::isnan(x) ? x : share;
  lab.say(fmt::format(
      "    {:<18} {:>13.4g} {:>13} {:>12} {:>9}", root ? "divided" : "not divided", highest,
      std::isnan(share) ? "NaN" : fmt::format("{:.3g}", share),
      std::isnan(share) ? "-" : fmt::format("{:.3g} %", 100 * zeros / static_cast<double>(p.size())),
      off(head.attended(p), exact)));
}

void show_root(Lab& lab) {
  lab.say(
      fmt::format("\n{} questions to {} tokens in FP16; off: from the same in float64", Head::rows, Head::T));
  lab.say("                       largest score largest share  shares of 0       off");
  Rng rng = Rng(lab.options().first_seed).split(15);
  struct Case {
    std::int64_t d;
    float deviation;
  };
  for (const Case& one : {Case{64, 1}, Case{1024, 1}, Case{64, 64}}) {
    const Head head(one.d, one.deviation, rng);
    lab.say(fmt::format("  d = {}, q and k normal{}", one.d,
                        one.deviation == 1 ? "" : fmt::format(", times {}", one.deviation)));
    for (const bool root : {true, false}) show_scores(lab, head, root);
    const Tensor exact = head.attended(softmax(head.scores(DType::f64, true)));
    lab.say(fmt::format("    {:<18} {:>51}", "attention()", off(head.attended(DType::f16), exact)));
  }
}

std::string row_of(const Tensor& p) {
  std::string line;
  for (const double x : p.to_doubles()) line += fmt::format(" {:>7}", std::isnan(x) ? "NaN" : fixed(x, 4));
  return line;
}

void show_masks(Lab& lab) {
  using Mask = ByHand::Mask;
  const Tensor scores = Tensor::from({1, 4}, std::vector<float>{1, 2, 3, 4}, DType::f16);
  const std::vector<float> two{0, 0, 1, 1}, all{1, 1, 1, 1};
  const auto shares = [&](const Tensor& x, const std::vector<float>& hidden, Mask mask) {
    return softmax(masked_by_hand(x, hidden, mask));
  };
  lab.say("\nThe shares of four tokens with the scores 1, 2, 3, 4");
  lab.say("  FP16, two hidden, -1e9 added      " + row_of(shares(scores, two, Mask::added)));
  lab.say("  FP16, two hidden, mask x -1e9     " + row_of(shares(scores, two, Mask::as_product)));
  lab.say("  FP16, all hidden, -1e9 added      " + row_of(shares(scores, all, Mask::added)));
  const Tensor wide = cast(scores, DType::f32);
  lab.say("  FP32, two hidden, mask x -1e9     " + row_of(shares(wide, two, Mask::as_product)));
  lab.say("  FP32, all hidden, -1e9 added      " + row_of(shares(wide, all, Mask::added)));
  // Values that are the unit vectors show the shares.
  std::vector<float> unit(16, 0);
  for (std::size_t i = 0; i < 4; ++i) unit[5 * i] = 1;
  const Tensor q = Tensor::from({1, 1, 4}, std::vector<float>{2, 0, 0, 0}, DType::f16),
               k = Tensor::from({1, 4, 4}, std::vector<float>{1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0},
                                DType::f16),
               v = Tensor::from({1, 4, 4}, unit, DType::f16);
  for (const std::int32_t seen : {2, 0}) {
    const AttentionOptions how{.lengths = Indices(std::vector<std::int32_t>{seen}, Device::cpu)};
    lab.say(fmt::format("  FP16, {} hidden, attention()      ", seen == 2 ? "two" : "all") +
            row_of(attention(q, k, v, how)));
  }
  const Tensor large = Tensor::from({1, 4}, std::vector<float>{1, 2, 3, 12}, DType::f16);
  lab.say("The scores 1, 2, 3, 12 in FP16");
  lab.say("  maximum not subtracted            " +
          row_of(softmax_by_hand(large, ByHand::Softmax::no_maximum)));
  lab.say("  softmax()                         " + row_of(softmax(large)));
}

}  // namespace

void show_attention(Lab& lab) {
  show_masks(lab);
  show_root(lab);
  show_softmax_sums(lab);
}

}  // namespace tinymp::lab
