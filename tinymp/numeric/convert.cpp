#include <tinymp/base/best_isa.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/convert_f16c.h>
#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace tinymp {
namespace {

bool use_f16c() { return matches_f16c && f16c::usable(); }

template <class From, class To, class Convert>
void each(std::span<const From> in, std::span<To> out, Convert convert_one) {
  for (std::size_t i = 0; i < in.size(); ++i) out[i] = convert_one(in[i]);
}

template <class From, class To>
void expect_same_length(std::span<const From> in, std::span<To> out) {
  expect(in.size() == out.size(), "convert: ", in.size(), " values do not fit ", out.size(),
         "; give two arrays of the same length");
}

// A half is standard-layout with the bits as its only member, so an array of one is an array of the other.
const std::uint16_t* bits_of(std::span<const half> x) {
  return reinterpret_cast<const std::uint16_t*>(x.data());
}
std::uint16_t* bits_of(std::span<half> x) { return reinterpret_cast<std::uint16_t*>(x.data()); }

template <class To, class From>
To to_float_type(From x) {
  return x == x ? static_cast<To>(x) : std::numeric_limits<To>::quiet_NaN();
}

/// bfloat16(x) as a loop is vectorised best: half of what is cut off is added, a little less where the bit
/// above is 0. A carry runs into the exponent, which is right; and the subnormals are those of float.
std::uint32_t rounded_to_bfloat16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const std::uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) & 0xffff'0000;
  return (bits & 0x7fff'ffff) > 0x7f80'0000 ? 0x7fc0'0000 : rounded;
}

float widened(std::uint16_t bfloat16_bits) {
  const std::uint32_t bits = static_cast<std::uint32_t>(bfloat16_bits) << 16;
  return std::bit_cast<float>((bits & 0x7fff'ffff) > 0x7f80'0000 ? 0x7fc0'0000 : bits);
}

/// Two steps over a block that stays in the L1 cache.
template <class From, class To>
void through_float(std::span<const From> in, std::span<To> out) {
  expect_same_length(in, out);
  std::array<float, 256> block;
  for (std::size_t i = 0; i < in.size(); i += block.size()) {
    const std::span<float> between(block.data(), std::min(block.size(), in.size() - i));
    convert(in.subspan(i, between.size()), between);
    convert(std::span<const float>(between), out.subspan(i, between.size()));
  }
}

template <class T>
void copy(std::span<const T> in, std::span<T> out) {
  expect_same_length(in, out);
  std::copy(in.begin(), in.end(), out.begin());
}

}  // namespace

void convert(std::span<const float> in, std::span<half> out) {
  expect_same_length(in, out);
  if (use_f16c()) return f16c::half_bits_from_floats(in.data(), bits_of(out), in.size());
  each(in, out, [](float x) { return half(x); });
}

void convert(std::span<const half> in, std::span<float> out) {
  expect_same_length(in, out);
  if (use_f16c()) return f16c::floats_from_half_bits(bits_of(in), out.data(), in.size());
  each(in, out, [](half x) { return static_cast<float>(x); });
}

void convert(std::span<const double> in, std::span<half> out) {
  expect_same_length(in, out);
  each(in, out, [](double x) { return half_from_double(x); });
}

void convert(std::span<const half> in, std::span<double> out) {
  expect_same_length(in, out);
  each(in, out, [](half x) { return static_cast<double>(static_cast<float>(x)); });
}

void convert(std::span<const double> in, std::span<float> out) {
  expect_same_length(in, out);
  each(in, out, [](double x) { return to_float_type<float>(x); });
}

void convert(std::span<const float> in, std::span<double> out) {
  expect_same_length(in, out);
  each(in, out, [](float x) { return to_float_type<double>(x); });
}

void convert(std::span<const float> in, std::span<bfloat16> out) {
  expect_same_length(in, out);
  on_best_isa([from = in.data(), to = out.data(), n = in.size()] {
    for (std::size_t i = 0; i < n; ++i)
      to[i] = bfloat16::from_bits(static_cast<std::uint16_t>(rounded_to_bfloat16(from[i]) >> 16));
  });
}

void convert(std::span<const bfloat16> in, std::span<float> out) {
  expect_same_length(in, out);
  on_best_isa([from = in.data(), to = out.data(), n = in.size()] {
    for (std::size_t i = 0; i < n; ++i) to[i] = widened(from[i].bits());
  });
}

void convert(std::span<const double> in, std::span<bfloat16> out) {
  expect_same_length(in, out);
  each(in, out, [](double x) { return bfloat16_from_double(x); });
}

void convert(std::span<const bfloat16> in, std::span<double> out) {
  expect_same_length(in, out);
  each(in, out, [](bfloat16 x) { return static_cast<double>(static_cast<float>(x)); });
}

void convert(std::span<const half> in, std::span<bfloat16> out) { through_float(in, out); }

void convert(std::span<const bfloat16> in, std::span<half> out) { through_float(in, out); }

void convert(std::span<const float> in, std::span<float> out) { copy(in, out); }
void convert(std::span<const half> in, std::span<half> out) { copy(in, out); }
void convert(std::span<const bfloat16> in, std::span<bfloat16> out) { copy(in, out); }
void convert(std::span<const double> in, std::span<double> out) { copy(in, out); }

void round_to_half(std::span<float> x) {
  if (use_f16c()) return f16c::round_to_halves(x.data(), x.size());
  for (float& value : x) value = static_cast<float>(half(value));
}

void round_to_bfloat16(std::span<float> x) {
  on_best_isa([values = x.data(), n = x.size()] {
    for (std::size_t i = 0; i < n; ++i) values[i] = std::bit_cast<float>(rounded_to_bfloat16(values[i]));
  });
}

const char* half_conversion() { return use_f16c() ? "F16C instructions" : "half_codec.h"; }

}  // namespace tinymp
