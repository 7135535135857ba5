#include <lessons/lab/report/html_text.h>
#include <lessons/lab/report/utf8.h>
#include <array>

namespace tinymp::report {

std::string escape_html(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const CodePoint c = first_code_point(text);
    const bool control =
        (c.value < 0x20 && c.value != '\t' && c.value != '\n') || (c.value >= 0x7F && c.value < 0xA0);
    switch (c.value) {
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
        safe += c.valid && !control ? text.substr(0, c.bytes) : "\xEF\xBF\xBD";
    }
    text.remove_prefix(c.bytes);
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
  if (text.rfind("2^", 0) != 0) return text;
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

}  // namespace tinymp::report
