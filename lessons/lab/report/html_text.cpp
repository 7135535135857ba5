#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/utf8.h>
#include <array>

namespace tinymp::report {

namespace {

bool is_harmless(char32_t c) {
  const bool control = (c < 0x20 && c != '\t' && c != '\n') || (c >= 0x7F && c < 0xA0);
  const bool direction =
      c == 0x200E || c == 0x200F || (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  return !control && !direction && c != 0x2028 && c != 0x2029;
}

}  // namespace

std::string shown_text(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    safe += c.valid && is_harmless(c.value) ? text.substr(0, c.bytes) : "\xEF\xBF\xBD";
    text.remove_prefix(c.bytes);
  }
  return safe;
}

std::string escape_html(std::string_view text) {
  std::string safe;
  for (const char c : shown_text(text)) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      case '\'':
        safe += "&#39;";
        break;
      default:
        safe += c;
    }
  }
  return safe;
}

std::string escape_script(std::string_view json) {
  std::string safe;
  while (!json.empty()) {
    const CodePoint c = first_code_point(json);
    switch (c.value) {
      case '<':
        safe += "\\u003c";
        break;
      case '>':
        safe += "\\u003e";
        break;
      case '&':
        safe += "\\u0026";
        break;
      case 0x2028:
        safe += "\\u2028";
        break;
      case 0x2029:
        safe += "\\u2029";
        break;
      default:
        safe += c.valid ? json.substr(0, c.bytes) : "\xEF\xBF\xBD";
    }
    json.remove_prefix(c.bytes);
  }
  return safe;
}

std::string pretty_power(const std::string& text) {
  constexpr std::array<const char*, 10> digits = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  if (text.rfind("2^", 0) != 0 || text.size() == 2) return text;
  std::string pretty = "2";
  for (const char c : text.substr(2)) {
    if (c == '-') {
      pretty += "⁻";
    } else if (c >= '0' && c <= '9') {
      pretty += digits[static_cast<std::size_t>(c - '0')];
    } else {
      return text;
    }
  }
  return pretty;
}

std::string pretty_powers(const std::string& text) {
  std::string made;
  std::size_t begin = 0;
  for (std::size_t at = text.find("2^"); at != std::string::npos; at = text.find("2^", begin)) {
    std::size_t end = text.find_first_not_of("-0123456789", at + 2);
    if (end == std::string::npos) end = text.size();
    made += text.substr(begin, at - begin) + pretty_power(text.substr(at, end - at));
    begin = end;
  }
  return made + text.substr(begin);
}

}  // namespace tinymp::report
