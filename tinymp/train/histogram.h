#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// How large the numbers of a step are, counted by powers of two. All counts are exact: they come from the
/// bits of the numbers.
namespace tinymp::train {

/// part / whole; of nothing, 0.
double share(std::int64_t part, std::int64_t whole);

/// ceil(log2 |x|):  2^(e-1) < |x| <= 2^e. The upper edge is inside, because FP16 rounds 2^-25 itself to zero
/// (halfway to 2^-24, and zero is even): what it flushes are exactly the exponents up to -25.
/// x is a normal double: every float that is not zero, and the products and quotients of floats, are.
int exponent_above(double x);
/// floor(log2 |x|):  2^e <= |x| < 2^(e+1). The lower edge is inside: "at least 2048 times as large".
int exponent_below(double x);

struct Histogram {
  std::int64_t zeros = 0;
  std::int64_t nonfinite = 0;          ///< infinities and NaN
  int first = 0;                       ///< exponent of counts[0]
  std::vector<std::int64_t> counts{};  ///< exponents first, first + 1, ...; no zero at either end

  std::int64_t sized() const;                     ///< neither zero nor infinite nor NaN
  std::int64_t nonzero() const;                   ///< the same and the infinite and NaN
  std::int64_t values() const;                    ///< all
  std::int64_t at(int exponent) const;            ///< of this exponent
  std::int64_t up_to(int exponent) const;         ///< of this exponent and all below; without the zeros
  Histogram& operator+=(const Histogram& other);  ///< of two parts of the same
  bool operator==(const Histogram&) const = default;
};

/// The gradients of one parameter as FP32 computes them, times S: what the format of the gradients has to
/// hold. Which of them FP16 cannot hold is asked of FP16's rounding, value by value.
struct GradientSizes {
  Histogram sizes{};            ///< exponent_above |g S|
  double largest = 0;           ///< of the finite |g S|
  std::int64_t subnormal = 0;   ///< FP16 rounds them to a subnormal
  std::int64_t overflowed = 0;  ///< finite, and FP16 rounds them to infinity: 65520 and above
  std::int64_t flushed = 0;     ///< not zero in FP32, and zero in this run: on its way, or at the end

  /// How many FP16 rounds to zero when S is 2^k times what it is.
  std::int64_t below_fp16(int k = 0) const { return sizes.up_to(-25 - k); }
  /// Of those below FP16, how many 2^k times the S would save.
  std::int64_t saved_by(int k) const { return below_fp16() - below_fp16(k); }
  /// The smallest k (-300 .. 300) for which 2^k times the S makes the largest overflow.
  int overflows_from() const;
  GradientSizes& operator+=(const GradientSizes& other);
  bool operator==(const GradientSizes&) const = default;
};

/// `wide`: FP32's gradients;  `own`: this run's, already multiplied by its S.
GradientSizes gradient_sizes(const Tensor& wide, const Tensor& own, double scale);

/// The updates of one parameter that are not zero in FP32, beside their weights.
struct UpdateSizes {
  Histogram ratios{};  ///< exponent_below |w / update|; a weight of 0 is among the zeros
  std::int64_t underflowed = 0, absorbed = 0;  ///< as in LogRecord: zero in the master's format; too small
                                               ///< for the weight

  /// How many are at least 2048 = 2^11 times smaller than their weight. An FP16 weight has 11 bits: from here
  /// on it may stay as it is, as its own bits decide, and from 4096 on it does.
  std::int64_t beyond_2048() const { return ratios.sized() - ratios.up_to(10); }
  UpdateSizes& operator+=(const UpdateSizes& other);
  bool operator==(const UpdateSizes&) const = default;
};

/// `updates`: as FP32 has them;  `before`, `after`: the values that were updated, kept in `master`.
UpdateSizes update_sizes(std::span<const float> updates, std::span<const float> before,
                         std::span<const float> after, DType master);

/// One parameter in one step.
struct ParameterSizes {
  std::string name{};  ///< "layer 1 weight", as the model calls it
  GradientSizes gradients{};
  std::optional<UpdateSizes> updates{};  ///< of a step that was taken
  bool operator==(const ParameterSizes&) const = default;
};

/// One step, looked at closely.
struct StepSizes {
  std::int64_t step = 0;
  double scale = 1;  ///< S in force
  std::vector<ParameterSizes> parameters{};

  GradientSizes gradients() const;  ///< of all parameters
  std::optional<UpdateSizes> updates() const;
  bool operator==(const StepSizes&) const = default;
};

}  // namespace tinymp::train
