#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

/// C++ text as a row of tokens, without comments: enough of C++ to change one of them, or to compare two
/// texts.
namespace tinymp::classroom {

struct Token {
  enum class Kind : std::uint8_t { name, number, text, sign };  ///< text: "..." and '...'
  Kind kind;
  std::string_view text;  ///< into what was tokenised
  std::size_t begin;      ///< where in it
  std::size_t end() const { return begin + text.size(); }
};

/// Lines that begin with # are left out.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace tinymp::classroom
