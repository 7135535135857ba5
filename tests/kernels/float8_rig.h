#pragma once

#include <kernels/kernels.h>
#include <tests/kernels/gemm_oracle.h>
#include <tests/kernels/rig.h>
#include <tests/numeric/small_float_oracle.h>
#include <tinymp/tensor/device_value.h>
#include <array>
#include <optional>

/// Small tools for tests of FP8 tensors.
namespace tinymp::test {

/// The formats of two operands.
struct Mix {
  DType a, b;
};
inline constexpr Mix float8_mixes[] = {{DType::e4m3, DType::e4m3},
                                       {DType::e4m3, DType::e5m2},
                                       {DType::e5m2, DType::e4m3},
                                       {DType::e5m2, DType::e5m2}};
inline constexpr DType float8_formats[] = {DType::e4m3, DType::e5m2};
inline constexpr DType float8_results[] = {DType::f32, DType::f16, DType::bf16};

inline const Spec& spec_of(DType dtype) { return dtype == DType::e4m3 ? e4m3_spec : e5m2_spec; }

inline std::uint8_t* codes_of(const Tensor& x) { return static_cast<std::uint8_t*>(x.view().memory); }

/// Codes drawn from all finite ones up to `largest` in magnitude.
inline Tensor random_codes(Shape shape, DType dtype, std::uint64_t seed, double largest = 1e9) {
  const Tensor x(shape, dtype);
  Rng rng(seed);
  for (std::int64_t i = 0; i < x.size(); ++i) {
    std::uint8_t& code = codes_of(x)[i];
    do code = static_cast<std::uint8_t>(rng.below(256));
    while (!(std::fabs(value_of_code(spec_of(dtype), code)) <= largest));
  }
  return x;
}

/// The values of FP8, out of the tables of the formats alone.
inline std::vector<double> values_of(const Tensor& x) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < x.size(); ++i)
    values.push_back(value_of_code(spec_of(x.dtype()), codes_of(x)[i]));
  return values;
}

/// All 256 codes of a format.
inline Tensor all_codes(DType dtype) {
  const Tensor x(Shape{256}, dtype);
  for (int i = 0; i < 256; ++i) codes_of(x)[i] = static_cast<std::uint8_t>(i);
  return x;
}

inline Tensor poisoned(Shape shape, DType dtype, Device device = Device::cpu) {
  const Tensor x(shape, dtype, device);
  kernels::fill(x.view(), std::numeric_limits<double>::quiet_NaN());
  return x;
}

/// A scale on a device.
inline std::optional<Cell<const float>> cell(const DeviceValue<float>& scale) { return {scale.cell()}; }

/// The scales of two operands: numbers of FP8 were multiplied with them.
struct TwoScales {
  float a, b;
};

/// 2^i and 2^j in steps over all positive floats, the smallest and the largest among them.
inline std::vector<TwoScales> scales_of_all_sizes() {
  std::vector<TwoScales> all;
  for (int i = -149; i <= 127; i += 6)
    for (int j = -149; j <= 127; j += 6) all.push_back({std::ldexp(1.0f, i), std::ldexp(1.0f, j)});
  return all;
}

/// A product of two FP8 numbers, with these scales.
inline float scaled_product(float x, float w, const TwoScales& scales, Device device) {
  const auto operand = [&](float value) {
    return Tensor::from({1, 1}, std::vector<float>{value}, DType::e5m2).to(device);
  };
  const DeviceValue<float> a(device, scales.a), b(device, scales.b);
  const Tensor y({1, 1}, DType::f32, device);
  kernels::gemm(operand(x).view(), kernels::Trans::no, operand(w).view(), kernels::Trans::no, y.view(),
                DType::f32, {.float8 = {cell(a), cell(b)}});
  return static_cast<float>(y.item());
}

/// A copy of x that begins `offset` values behind what the pool gives.
inline Tensor shifted(const Tensor& x, std::int64_t offset, Device device) {
  const Tensor part = Tensor(Shape{x.size() + offset}, x.dtype(), device).slice(offset, x.shape());
  kernels::cast(x.to(device).view(), part.view());
  return part;
}

/// The code that the text of small_float_codec.h says: x > 0 becomes the number above it when `random` lies below
/// the distance from the number below, as a fraction of 2^32.
inline unsigned drawn_code(const Spec& spec, float x, std::uint32_t random, Overflow overflow) {
  if (x != x) return spec.nan;
  const NearestCode nearest(spec);
  const std::vector<double>& values = nearest.values();  // the last one is too large
  const unsigned sign = std::signbit(x) ? codes_of(spec) / 2 : 0;
  const double magnitude = std::fabs(static_cast<double>(x));
  const auto too_large = static_cast<unsigned>(values.size() - 1);
  unsigned code = too_large;
  if (magnitude < values.back()) {
    code =
        static_cast<unsigned>(std::upper_bound(values.begin(), values.end(), magnitude) - values.begin()) - 1;
    const double lo = values[code], hi = values[code + 1];
    if (static_cast<double>(random) < std::floor(0x1p32 * ((magnitude - lo) / (hi - lo)))) ++code;
  }
  if (code < too_large) return sign | code;
  if (overflow == Overflow::saturate) return sign | (too_large - 1);
  return spec.has_infinity ? sign | too_large : spec.nan;
}

}  // namespace tinymp::test
