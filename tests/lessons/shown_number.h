#pragma once

#include <fmt/format.h>
#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <regex>
#include <string>
#include <vector>

/// A number as a text has it.
namespace tinymp::test {

struct Shown {
  std::string digits;    ///< without commas: "1024.5", "2.5e-06"
  bool percent = false;  ///< "62 %", "62 percent"
  std::string unit{};    ///< "s", "x", "points": what stands behind it and makes it a measurement
  int line = 0;          ///< how many line ends stand before it

  double thousands() const { return unit == "k" ? 1e3 : unit == "M" ? 1e6 : 1; }
  double value() const { return std::strtod(digits.c_str(), nullptr) * thousands(); }
  bool has_point() const { return digits.find('.') != std::string::npos; }
  bool has_exponent() const { return digits.find('e') != std::string::npos; }
  /// Something that was measured, or set: not a count, a size, a year.
  bool is_figure() const { return has_point() || has_exponent() || percent || !unit.empty(); }
  int decimals() const {
    const std::size_t point = digits.find('.');
    if (point == std::string::npos) return 0;
    return static_cast<int>(std::min(digits.find('e'), digits.size()) - point - 1);
  }
  /// What it would have to be for `real`: the same number of digits.
  std::string as_shown(double real) const {
    if (!std::isfinite(real)) return std::isnan(real) ? "NaN" : "infinity";
    return has_exponent() ? fmt::format("{:.{}e}", real / thousands(), decimals())
                          : fmt::format("{:.{}f}", real / thousands(), decimals());
  }
  bool rounds(double real) const {
    return std::strtod(as_shown(std::abs(real)).c_str(), nullptr) * thousands() == value();
  }
  std::string text() const {
    const bool apart = percent || unit.size() > 1 || unit == "s";
    return digits + (apart ? " " : "") + (percent ? "%" : unit);
  }
};

namespace shown {

inline bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
inline bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '^';
}

/// What is written as a number and is none: part of a word (fp16, 0x2e66, 16x16, 2^-12, 1.01b in base 2,
/// 1st), of a version (12.2.0), or that of a section.
inline bool is_part(const std::string& before, const std::string& digits, const std::string& after) {
  static const std::regex name("(sections?|chapters?|lessons?|seeds?|arXiv|version)\\s+$", std::regex::icase);
  static const std::regex word("[A-Za-z_^0-9]+");
  if (!before.empty() && is_word(before.back())) return true;
  if (before.ends_with("^-")) return true;
  if (before.size() >= 2 && before.back() == '.' && is_digit(before[before.size() - 2])) return true;
  if (after.size() >= 2 && after[0] == '.' && is_digit(after[1])) return true;
  if (std::regex_search(before, name)) return true;
  std::smatch m;
  if (!std::regex_search(after, m, word, std::regex_constants::match_continuous)) return false;
  const std::string tail = m.str();
  if (std::ranges::any_of(tail, [](char c) { return is_digit(c) || c == '_' || c == '^'; })) return true;
  if (tail == "b") return digits.find_first_not_of("01.") == std::string::npos;
  return tail == "st" || tail == "nd" || tail == "rd" || tail == "th";
}

/// "x" of "1.5x" and "points" of "5 points"; "%" for percent. A letter right behind a number is always a
/// unit.
inline std::string unit_of(const std::string& after) {
  static const std::regex glued("[A-Za-z]+(/[a-z]+)?");
  static const std::regex apart(
      "(\\s|&nbsp;)*(%|per ?cent\\b|points?\\b|seconds?\\b|[num]?s\\b|[kMGT]?B/s|[GT]?FLOP/s)");
  std::smatch m;
  if (std::regex_search(after, m, glued, std::regex_constants::match_continuous)) return m.str();
  if (!std::regex_search(after, m, apart, std::regex_constants::match_continuous)) return "";
  return m[2].str().starts_with("per") ? "%" : m[2].str();
}

}  // namespace shown

/// All numbers of a text that stand for themselves. In "8 to 62 %" both have the unit.
inline std::vector<Shown> numbers_in(const std::string& text) {
  static const std::regex number(R"(([0-9]+(,[0-9]{3})*(\.[0-9]+)?|\.[0-9]+)(e[-+]?[0-9]+)?)");
  static const std::regex between("(\\s|&nbsp;)*(to|\\.\\.|-|\xE2\x80\x93|and|or)(\\s|&nbsp;)*");
  std::vector<Shown> found;
  std::vector<std::size_t> begins, ends;
  for (std::size_t at = 0; at < text.size();) {
    std::smatch m;
    const auto from = text.cbegin() + static_cast<std::ptrdiff_t>(at);
    if (!std::regex_search(from, text.cend(), m, number)) break;
    std::size_t begin = at + static_cast<std::size_t>(m.position());
    const std::size_t end = begin + static_cast<std::size_t>(m.length());
    at = end;
    if (text[begin] == '.' && begin > 0 && (text[begin - 1] == '.' || shown::is_digit(text[begin - 1])))
      ++begin;
    Shown one{text.substr(begin, end - begin)};
    std::erase(one.digits, ',');
    const std::string after = text.substr(end, 40);
    if (shown::is_part(
            text.substr(begin - std::min<std::size_t>(begin, 20), std::min<std::size_t>(begin, 20)),
            one.digits, after))
      continue;
    one.unit = shown::unit_of(after);
    one.percent = one.unit == "%";
    if (one.percent) one.unit.clear();
    one.line =
        static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(begin), '\n'));
    found.push_back(std::move(one));
    begins.push_back(begin);
    ends.push_back(end);
  }
  for (std::size_t i = found.size(); i-- > 1;) {
    const std::string gap = text.substr(ends[i - 1], begins[i] - ends[i - 1]);
    if (found[i - 1].percent || !found[i - 1].unit.empty() || !std::regex_match(gap, between)) continue;
    found[i - 1].percent = found[i].percent;
    found[i - 1].unit = found[i].unit;
  }
  return found;
}

}  // namespace tinymp::test
