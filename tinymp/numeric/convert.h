#pragma once

#include <tinymp/base/error.h>
#include <tinymp/base/host_device.h>
#include <tinymp/numeric/dtype.h>
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>

/// Conversion between the formats, for numbers and for whole arrays. Between float and half convert() uses
/// the F16C instructions when the machine has them and matches_f16c (half_codec.h) is true. Otherwise
/// half_codec.h converts one number at a time.
namespace tinymp {

namespace detail {
/// Rounds to float "to odd": when x lies between two floats, takes the one whose last bit is 1. Such a float
/// is never the middle of two halves (the last bits of a middle are 0) and lies on the same side of it as x.
/// The same holds for bfloat16. So a second rounding gives what rounding x itself would give. Boldo and
/// Melquiond, "Emulation of FMA and correctly rounded sums", IEEE Trans. Computers 57(4), 2008.
TINYMP_HD constexpr float float_to_odd(double x) {
  const float nearest = static_cast<float>(x);
  const double back = nearest;
  std::uint32_t bits = std::bit_cast<std::uint32_t>(nearest);
  const bool inexact = back < x || back > x;
  if (inexact && (bits & 1) == 0) bits += (back < x) == (x > 0) ? 1u : ~0u;  // away from zero, or towards it
  return std::bit_cast<float>(bits);
}
}  // namespace detail

/// Returns x in the format To, rounded once, to nearest even. A number that is too large becomes infinity, or
/// NaN in a format without infinity. A NaN becomes the one NaN of the format. Within one format the bits
/// stay. (half(static_cast<float>(x)) of a double x would round twice: a double just above the middle of two
/// halves may round to that middle, and then to the wrong side.)
template <class To, class From>
TINYMP_HD constexpr To converted(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (!std::is_floating_point_v<From>) {  // a narrow number is a float
    return converted<To>(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<To>) {
    return x == x ? static_cast<To>(x) : std::numeric_limits<To>::quiet_NaN();
  } else if constexpr (std::is_same_v<From, double>) {
    return converted<To>(detail::float_to_odd(x));
  } else if constexpr (std::is_constructible_v<To, float>) {
    return To(x);
  } else {
    return To(x, Overflow::infinity);
  }
}

TINYMP_HD constexpr half half_from_double(double x) { return converted<half>(x); }
TINYMP_HD constexpr bfloat16 bfloat16_from_double(double x) { return converted<bfloat16>(x); }

namespace detail {

// The fast conversions.
void convert_all(std::span<const float> in, std::span<half> out);
void convert_all(std::span<const half> in, std::span<float> out);
void convert_all(std::span<const float> in, std::span<bfloat16> out);
void convert_all(std::span<const bfloat16> in, std::span<float> out);
void convert_all(std::span<const float> in, std::span<float8_e5m2> out);  // defined in convert_float8.cpp
void convert_all(std::span<const float8_e5m2> in, std::span<float> out);
void convert_all(std::span<const float> in, std::span<float8_e4m3> out);
void convert_all(std::span<const float8_e4m3> in, std::span<float> out);

/// All other conversions. From one narrow format to another it goes through FP32, in
/// blocks that stay in the L1 cache.
template <class From, class To>
void convert_all(std::span<const From> in, std::span<To> out) {
  if constexpr (std::is_same_v<From, To>) {
    std::copy(in.begin(), in.end(), out.begin());
  } else if constexpr (std::is_floating_point_v<From> || std::is_floating_point_v<To>) {
    for (std::size_t i = 0; i < in.size(); ++i) out[i] = converted<To>(in[i]);
  } else {
    std::array<float, 256> block;
    for (std::size_t i = 0; i < in.size(); i += block.size()) {
      const std::span<float> between(block.data(), std::min(block.size(), in.size() - i));
      convert_all(in.subspan(i, between.size()), between);
      convert_all(std::span<const float>(between), out.subspan(i, between.size()));
    }
  }
}

}  // namespace detail

/// out[i] = converted<To>(in[i]). `in` and `out` are spans, or arrays that spans are made of; they have the
/// same length and do not overlap.
/// @throws Error when the lengths differ.
template <class In, class Out>
void convert(const In& in, Out&& out) {
  const std::span from(in);
  const std::span to(out);
  expect(from.size() == to.size(), "convert: ", from.size(), " values do not fit ", to.size(),
         "; give two arrays of the same length");
  using From = std::remove_const_t<typename decltype(from)::element_type>;
  detail::convert_all(std::span<const From>(from), std::span<typename decltype(to)::element_type>(to));
}

/// Rounds the values to the format and back to float, in place.
void round_to(DType format, std::span<float> x);

/// "F16C instructions" or "half_codec.h": what convert() uses between float and half on this machine.
const char* half_conversion();

}  // namespace tinymp
