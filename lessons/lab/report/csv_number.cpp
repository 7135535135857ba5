#include <lessons/lab/report/csv_number.h>
#include <tinymp/base/foreign_text.h>
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

namespace tinymp::report {
namespace {

using Limits = std::numeric_limits<double>;

bool same_word(std::string_view text, std::string_view lower_case) {
  return std::ranges::equal(text, lower_case, [](char c, char lower) {
    return (c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) == lower;
  });
}

/// NaN or an infinity by its name.
std::optional<double> named(std::string_view word) {
  for (const char* const nan : {"nan", "1.#qnan", "1.#ind", "1.#snan", "1.#nan"})
    if (same_word(word, nan)) return Limits::quiet_NaN();
  for (const char* const infinity : {"inf", "infinity", "1.#inf"})
    if (same_word(word, infinity)) return Limits::infinity();
  return std::nullopt;
}

}  // namespace

bool is_missing(std::string_view text) {
  constexpr std::array<const char*, 6> words = {"", "na", "n/a", "none", "null", "-"};
  return std::ranges::any_of(words, [&](const char* word) { return same_word(trimmed(text), word); });
}

std::optional<double> csv_number(std::string_view text) {
  text = trimmed(text);
  const bool minus = text.starts_with('-');
  if (minus || text.starts_with('+')) text.remove_prefix(1);
  if (const std::optional<double> value = named(text)) return minus ? -*value : *value;
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string_view::npos || text[0] == '-' ||
      text[0] == '+')
    return std::nullopt;
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (stop != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  if (error == std::errc::invalid_argument) return std::nullopt;
  return minus ? -value : value;
}

}  // namespace tinymp::report
