#pragma once

#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/half.h>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <string>

/// Numbers as a failing test prints them: hex, fields, value.
namespace tinymp::test {

inline std::string fields(std::uint64_t bits, int width, int exponent_bits) {
  std::string text;
  for (int bit = width - 1; bit >= 0; --bit) {
    text += ((bits >> bit) & 1) != 0 ? '1' : '0';
    if (bit == width - 1 || bit == width - 1 - exponent_bits) text += ' ';
  }
  return text;
}

inline std::string show(std::uint64_t bits, int width, int exponent_bits, double value) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%0*llx  ", width / 4, static_cast<unsigned long long>(bits));
  std::string result = text + fields(bits, width, exponent_bits);
  std::snprintf(text, sizeof text, "  %.9g", value);
  return result + text;
}

inline std::string show(float x) {
  return show(std::bit_cast<std::uint32_t>(x), 32, 8, static_cast<double>(x));
}
inline std::string show(double x) { return show(std::bit_cast<std::uint64_t>(x), 64, 11, x); }
inline std::string show(half x) { return show(x.bits(), 16, 5, static_cast<double>(static_cast<float>(x))); }
inline std::string show(bfloat16 x) {
  return show(x.bits(), 16, 8, static_cast<double>(static_cast<float>(x)));
}
inline std::string show(float8_e4m3 x) {
  return show(x.bits(), 8, 4, static_cast<double>(static_cast<float>(x)));
}
inline std::string show(float8_e5m2 x) {
  return show(x.bits(), 8, 5, static_cast<double>(static_cast<float>(x)));
}

/// "float 0x... gave half 0x..., expected 0x...", each on its own line.
template <class In, class Out>
std::string show_mismatch(In in, Out got, Out expected) {
  return "of       " + show(in) + "\ngot      " + show(got) + "\nexpected " + show(expected) + "\n";
}

}  // namespace tinymp::test
