#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Counts the numbers of a step by their size, in powers of two. All counts are exact: they come from the
/// bits of the numbers.
namespace tinymp::train {

/// Products and quotients of floats have exponents from -298 to 277. An f64 beyond this one counts as this one.
inline constexpr int farthest_exponent = 300;

/// part / whole; 0 when whole is 0.
double share(std::int64_t part, std::int64_t whole);

/// ceil(log2 |x|):  2^(e-1) < |x| <= 2^e. The upper edge is inside, because FP16 rounds 2^-25 itself to zero
/// (halfway to 2^-24, and zero is even). So FP16 flushes exactly the exponents up to -25.
/// x must be a normal double. Every float that is not zero is one, and so are
/// products and quotients of floats.
int exponent_above(double x);
/// floor(log2 |x|):  2^e <= |x| < 2^(e+1). The lower edge is inside: "at least 2048 times as large".
int exponent_below(double x);

struct Histogram {
  std::int64_t zeros = 0;
  std::int64_t nonfinite = 0;          ///< infinities and NaN
  int first = 0;                       ///< exponent of counts[0]
  std::vector<std::int64_t> counts{};  ///< exponents first, first + 1, ...; no zero at either end

  std::int64_t sized() const;                     ///< neither zero nor infinite nor NaN
  std::int64_t nonzero() const;                   ///< sized() and nonfinite
  std::int64_t values() const;                    ///< all values
  std::int64_t at(int exponent) const;            ///< the count of this exponent
  std::int64_t up_to(int exponent) const;         ///< the counts up to this exponent, without the zeros
  Histogram& operator+=(const Histogram& other);  ///< adds the counts
  bool operator==(const Histogram&) const = default;
};

/// The sizes of one parameter's FP32 gradients times S, which the format of the gradients has to hold. The
/// counts of what FP16 cannot hold come from rounding each value to FP16.
struct GradientSizes {
  Histogram sizes{};            ///< exponent_above |g S|
  double largest = 0;           ///< the largest finite |g S|
  std::int64_t subnormal = 0;   ///< values that FP16 rounds to a subnormal
  std::int64_t overflowed = 0;  ///< finite values that FP16 rounds to infinity: 65520 and above
  std::int64_t flushed = 0;     ///< values that are not zero in FP32 but zero in this run, for any reason

  /// How many values FP16 rounds to zero when S is 2^k times as large.
  std::int64_t below_fp16(int k = 0) const { return sizes.up_to(-25 - k); }
  /// How many of the values below FP16 an S that is 2^k times as large would save.
  std::int64_t saved_by(int k) const { return below_fp16() - below_fp16(k); }
  /// The smallest k (-300 .. 300) for which an S that is 2^k times as large makes the largest value overflow.
  int overflows_from() const;
  GradientSizes& operator+=(const GradientSizes& other);
  bool operator==(const GradientSizes&) const = default;
};

/// `wide`: the gradients in FP32;  `own`: the gradients of the run, already multiplied by its S, `scale`.
GradientSizes gradient_sizes(const Tensor& wide, const Tensor& own, double scale);

/// The sizes of one parameter's updates that are not zero in FP32, relative to its weights.
struct UpdateSizes {
  Histogram ratios{};  ///< exponent_below |w / update|; a weight of 0 counts as a zero
  /// As in LogRecord: zero in the master's format; too small to change the weight.
  std::int64_t underflowed = 0, absorbed = 0;

  /// How many updates are at least 2048 = 2^11 times smaller than their weight. An FP16 weight has 11 bits:
  /// from 2048 on an update may leave it unchanged, depending on its last bits, and from 4096 on it does.
  std::int64_t beyond_2048() const { return ratios.sized() - ratios.up_to(10); }
  /// The same for BF16, which has 8 bits: at least 256 times smaller.
  std::int64_t beyond_256() const { return ratios.sized() - ratios.up_to(7); }
  UpdateSizes& operator+=(const UpdateSizes& other);
  bool operator==(const UpdateSizes&) const = default;
};

/// What a step made of the values that an optimizer updates.
struct UpdatedValues {
  std::span<const float> updates, before, after;  ///< the updates are in FP32
  DType master = DType::f32;                      ///< the format of the values
  bool rounds_updates = true;  ///< an update is rounded to that format by itself, and may become 0
  /// Kahan's compensation, empty where there is none: an update that it took is not lost.
  std::span<const float> compensation_before{}, compensation_after{};
};
UpdateSizes update_sizes(const UpdatedValues& values);

/// One parameter in one step.
struct ParameterSizes {
  std::string name{};  ///< "layer 1 weight", as the model calls it
  GradientSizes gradients{};
  std::optional<UpdateSizes> updates{};  ///< empty when the step was skipped
  bool operator==(const ParameterSizes&) const = default;
};

/// What FP8 lost of the operands of products, of one kind: "activations", "weights", "errors", "weight gradients".
struct NarrowedSizes {
  std::string what{};
  DType dtype = DType::e5m2;
  std::int64_t values = 0;   ///< finite and not 0 before
  std::int64_t flushed = 0;  ///< of these 0 after
  std::int64_t saturated =
      0;  ///< beyond the largest number before; after the largest number, infinity or NaN

  NarrowedSizes& operator+=(const NarrowedSizes& other) {
    values += other.values, flushed += other.flushed, saturated += other.saturated;
    return *this;
  }
  bool operator==(const NarrowedSizes&) const = default;
};

/// The sizes of one step.
struct StepSizes {
  std::int64_t step = 0;
  double scale = 1;  ///< the S of this step
  std::vector<ParameterSizes> parameters{};
  std::vector<NarrowedSizes> eight_bits{};  ///< empty without products in FP8

  GradientSizes gradients() const;  ///< of all parameters together
  std::optional<UpdateSizes> updates() const;
  bool operator==(const StepSizes&) const = default;
};

}  // namespace tinymp::train
