#pragma once

#include <cstdint>
#include <string_view>

/// One step of UTF-8 decoding.
namespace tinymp::report {

struct CodePoint {
  char32_t value;
  std::size_t bytes;  ///< taken from the text
  bool valid;         ///< false: one stray byte, value U+FFFD
};

/// The first code point of a text that is not empty. Over-long forms, surrogates and values above U+10FFFF
/// are invalid.
inline CodePoint first_code_point(std::string_view text) {
  constexpr CodePoint stray{0xFFFD, 1, false};
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1, true};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < bytes) return stray;
  char32_t value = static_cast<char32_t>(lead & (0xFF >> (bytes + 1)));
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return stray;
    value = (value << 6) | (next & 0x3F);
  }
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < smallest[bytes] || value > 0x10FFFF || surrogate) return stray;
  return {value, bytes, true};
}

}  // namespace tinymp::report
