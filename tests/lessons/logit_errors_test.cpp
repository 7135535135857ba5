#include <lessons/11_language_model/errors.h>
#include <tests/catch.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <vector>

// What lesson 11 counts at the logits, against softmaxes in double.
namespace tinymp::test {
namespace {

constexpr std::int64_t tokens = 16, words = 40;

struct Counts {
  std::int64_t zeros = 0, zeros_of_half = 0;  ///< of all tokens, of the first half of them
  double down = 0, up = 0;
};

/// S p / tokens and S (p - 1) / tokens, rounded to FP16.
Counts in_double(const Tensor& logits, const std::vector<std::int32_t>& targets, double scale) {
  const std::vector<double> y = logits.to_doubles();
  Counts found;
  for (std::int64_t t = 0; t < tokens; ++t) {
    double sum = 0;
    const double* const row = y.data() + t * words;
    for (std::int64_t w = 0; w < words; ++w) sum += std::exp(row[w]);
    for (std::int64_t w = 0; w < words; ++w) {
      const bool is_target = targets[static_cast<std::size_t>(t)] == w;
      const double error = scale * (std::exp(row[w]) / sum - (is_target ? 1 : 0)) / tokens;
      const auto kept = static_cast<double>(static_cast<float>(half_from_double(error)));
      found.zeros += kept == 0;
      found.zeros_of_half += kept == 0 && t < tokens / 2;
      (kept > 0 ? found.down : found.up) += std::fabs(kept);
    }
  }
  return found;
}

}  // namespace

TEST_CASE("lesson 11 counts the errors at the logits that FP16 flushes") {
  Rng rng(5);
  std::vector<float> values;
  std::vector<std::int32_t> targets;
  for (std::int64_t i = 0; i < tokens * words; ++i) values.push_back(rng.uniform(-3, 3));
  for (std::int64_t t = 0; t < tokens; ++t) targets.push_back(static_cast<std::int32_t>(rng.below(words)));
  const Tensor logits = Tensor::from({tokens, words}, values, DType::f16).set_requires_grad(true);
  for (const float scale : {0x1p-20f, 0x1p-16f, 0x1p-14f, 1.0f}) {
    INFO("S = " << scale);
    logits.clear_grad();
    lab::LogitErrors errors;
    {
      Tape tape(&errors);
      tape.backward(tinymp::scale(cross_entropy(logits, targets), scale));
    }
    const Counts exact = in_double(logits, targets, static_cast<double>(scale));
    CHECK(errors.flushed() == static_cast<double>(exact.zeros) / (tokens * words));
    CHECK(errors.down_kept() == Approx(exact.down / exact.up).epsilon(1e-3));
    const train::GradientSizes sizes = errors.sizes(targets, tokens / 2, static_cast<double>(scale));
    CHECK(sizes.flushed == exact.zeros_of_half);
    CHECK(sizes.below_fp16() == exact.zeros_of_half);
  }
}

}  // namespace tinymp::test
