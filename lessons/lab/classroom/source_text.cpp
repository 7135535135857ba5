#include <lessons/lab/classroom/source_text.h>
#include <algorithm>
#include <cctype>

namespace tinymp::classroom {
namespace {

constexpr auto none = std::string_view::npos;

/// Letters beyond ASCII belong to names, too.
bool in_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The end of a preprocessing number ([lex.ppnumber]): 1'000 holds no quote, 1'" does.
std::size_t end_of_number(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    const bool after_exponent = std::string_view("eEpP").find(text[at - 1]) != none;
    const bool sign = after_exponent && (text[at] == '+' || text[at] == '-');
    const bool quote = text[at] == '\'' && at + 1 < text.size() && in_name(text[at + 1]);
    if (!in_name(text[at]) && text[at] != '.' && !sign && !quote) break;
  }
  return at;
}

/// The position behind the closing quote, or the end of the line: compilers end an open literal there as
/// well.
std::size_t end_of_literal(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (++at; at < text.size() && text[at] != '\n'; ++at) {
    if (text[at] == quote) return at + 1;
    if (text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') ++at;
  }
  return at;
}

}  // namespace

std::string spliced(std::string_view text) {
  std::string whole;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t end = text[i] == '\\' ? text.find_first_not_of(" \t\v\f\r", i + 1) : none;
    if (end != none && text[end] == '\n')
      i = end;
    else
      whole += text[i];
  }
  return whole;
}

std::string without_comments(std::string_view text) {
  std::string left;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
      left += ' ';
    } else if (text.substr(at, 2) == "/*") {
      const std::size_t end = text.find("*/", at + 2);
      at = end == none ? text.size() : end + 2;
      left += ' ';
    } else if (text[at] == '"' || text[at] == '\'') {
      at = end_of_literal(text, at);
      left += {text[begin], text[begin]};
    } else if (is_digit(text[at]) || (text[at] == '.' && at + 1 < text.size() && is_digit(text[at + 1]))) {
      at = end_of_number(text, at);
      left += text.substr(begin, at - begin);
    } else if (in_name(text[at])) {
      while (at < text.size() && in_name(text[at])) ++at;
      left += text.substr(begin, at - begin);
    } else {
      left += text[at++];
    }
  }
  return left;
}

std::size_t odd_character(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool layout = std::string_view("\n\t\v\f").find(text[i]) != none;
    const bool ends_line = text.substr(i, 2) == "\r\n";
    if (static_cast<unsigned char>(text[i]) < 0x20 && !layout && !ends_line) return i;
  }
  return none;
}

}  // namespace tinymp::classroom
