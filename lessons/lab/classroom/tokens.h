#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// Splits C++ text into tokens, without comments: enough of C++ to change a token, or to compare two texts.
namespace tinymp::classroom {

struct Token {
  enum class Kind : std::uint8_t { name, number, text, sign };  ///< text: "..." and '...'
  Kind kind;
  std::string_view text;  ///< a part of the text that was split
  std::size_t begin;      ///< position in that text
  std::size_t end() const { return begin + text.size(); }
};

/// Lines that begin with # give no tokens.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace tinymp::classroom
