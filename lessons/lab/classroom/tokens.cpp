#include <lessons/lab/classroom/tokens.h>
#include <algorithm>
#include <array>
#include <cctype>

namespace tinymp::classroom {
namespace {

using Kind = Token::Kind;

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Signs of several characters, the longer ones first.
constexpr std::array<std::string_view, 25> long_signs = {
    "<<=", ">>=", "...", "<=>", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=",
    "==",  "!=",  "&&",  "||",  "+=",  "-=", "*=", "/=", "%=", "&=", "|=", "^="};

std::size_t end_of_line(std::string_view text, std::size_t at) {
  return std::min(text.find('\n', at), text.size());
}

/// The position behind the quote that ends the literal at `at`.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  std::size_t i = at + 1;
  while (i < text.size() && text[i] != text[at] && text[i] != '\n') i += text[i] == '\\' ? 2 : 1;
  return std::min(i + 1, text.size());
}

/// The end of a number: 0x1p-24f, 0b1'00, 1.5e+3. A sign belongs to it only after the letter of an exponent.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  const bool hex = text.substr(at, 2) == "0x";
  std::size_t i = at;
  for (; i < text.size(); ++i) {
    const char before = i == at ? ' ' : text[i - 1];
    const bool exponent = before == 'p' || before == 'P' || (!hex && (before == 'e' || before == 'E'));
    const bool digits_go_on = text[i] == '\'' && i + 1 < text.size() && in_name(text[i + 1]);
    if (!in_name(text[i]) && text[i] != '.' && !digits_go_on &&
        !(exponent && (text[i] == '+' || text[i] == '-')))
      break;
  }
  return i;
}

Token token_at(std::string_view text, std::size_t at) {
  const char c = text[at];
  const auto until = [&](Kind kind, std::size_t end) { return Token{kind, text.substr(at, end - at), at}; };
  const bool digit_follows =
      at + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[at + 1])) != 0;
  if (std::isdigit(static_cast<unsigned char>(c)) != 0 || (c == '.' && digit_follows))
    return until(Kind::number, end_of_number(text, at));
  if (in_name(c)) {
    std::size_t end = at;
    while (end < text.size() && in_name(text[end])) ++end;
    return until(Kind::name, end);
  }
  if (c == '"' || c == '\'') return until(Kind::text, end_of_quoted(text, at));
  for (const std::string_view sign : long_signs)
    if (text.substr(at, sign.size()) == sign) return until(Kind::sign, at + sign.size());
  return until(Kind::sign, at + 1);
}

}  // namespace

std::vector<Token> tokens_of(std::string_view text) {
  std::vector<Token> tokens;
  for (std::size_t at = 0; at < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[at])) != 0) {
      ++at;
    } else if (text.substr(at, 2) == "//" || text[at] == '#') {
      at = end_of_line(text, at);
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string_view::npos ? text.size() : end + 2;
    } else {
      tokens.push_back(token_at(text, at));
      at = tokens.back().end();
    }
  }
  return tokens;
}

}  // namespace tinymp::classroom
