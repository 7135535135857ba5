#include <tinymp/base/error.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/convert_f16c.h>
#include <algorithm>
#include <limits>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

namespace tinymp {
namespace {

bool use_f16c() {
  static const bool use = matches_f16c && f16c::compiled && f16c::machine_has();
  return use;
}

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

template <class T>
void copy(std::span<const T> in, std::span<T> out) {
  expect_same_length(in, out);
  std::copy(in.begin(), in.end(), out.begin());
}

}  // namespace

bool f16c::machine_has() {
#if defined(__x86_64__) || defined(__i386__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool instructions = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  return instructions && __builtin_cpu_supports("avx");  // and the operating system saves the registers
#else
  return false;
#endif
}

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
  each(in, out, [](float x) { return bfloat16(x); });
}

void convert(std::span<const bfloat16> in, std::span<float> out) {
  expect_same_length(in, out);
  each(in, out, [](bfloat16 x) { return static_cast<float>(x); });
}

void convert(std::span<const double> in, std::span<bfloat16> out) {
  expect_same_length(in, out);
  each(in, out, [](double x) { return bfloat16_from_double(x); });
}

void convert(std::span<const bfloat16> in, std::span<double> out) {
  expect_same_length(in, out);
  each(in, out, [](bfloat16 x) { return static_cast<double>(static_cast<float>(x)); });
}

void convert(std::span<const half> in, std::span<bfloat16> out) {
  expect_same_length(in, out);
  each(in, out, [](half x) { return bfloat16(static_cast<float>(x)); });
}

void convert(std::span<const bfloat16> in, std::span<half> out) {
  expect_same_length(in, out);
  each(in, out, [](bfloat16 x) { return half(static_cast<float>(x)); });
}

void convert(std::span<const float> in, std::span<float> out) { copy(in, out); }
void convert(std::span<const half> in, std::span<half> out) { copy(in, out); }
void convert(std::span<const bfloat16> in, std::span<bfloat16> out) { copy(in, out); }
void convert(std::span<const double> in, std::span<double> out) { copy(in, out); }

const char* half_conversion() { return use_f16c() ? "F16C instructions" : "half_codec.h"; }

}  // namespace tinymp
