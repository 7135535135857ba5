#include <unistd.h>

#include <lessons/lab/learn/commands/number_lines.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <algorithm>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <sstream>
#include <string_view>

namespace tinymp::lab {
namespace {

bool is_hex_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

}  // namespace

void NumberLine::refuse(const std::string& what) const {
  throw UsageError(concat("line ", line, ": ", what));
}

void NumberLine::expect_words(std::size_t count, const std::string& meaning) const {
  if (words.empty()) refuse(concat("this line is empty; it takes ", meaning));
  if (words.size() != count)
    refuse(concat("this line has ", words.size(), words.size() == 1 ? " word" : " words", "; it takes ",
                  meaning));
}

void for_each_number_line(const std::string& example, const std::function<void(const NumberLine&)>& work) {
  if (isatty(STDIN_FILENO) != 0) throw UsageError("numbers come from standard input: " + example);
  if (read(STDIN_FILENO, nullptr, 0) < 0)  // a folder, or closed
    throw UsageError(concat("standard input cannot be read: ", std::strerror(errno),
                            "; numbers come from there: ", example));
  NumberLine line;
  for (std::string text; std::getline(std::cin, text);) {
    line.line += 1;
    line.words.clear();
    std::istringstream words(text);
    for (std::string word; words >> word;) line.words.push_back(word);
    work(line);
  }
}

float float_in(const NumberLine& line, const std::string& word) {
  const bool has_sign = word.starts_with('-') || word.starts_with('+');
  const std::string_view number = std::string_view(word).substr(has_sign ? 1 : 0);
  if (number.starts_with("0x") || number.starts_with("0X")) {
    const std::string_view digits = number.substr(2);
    if (std::ranges::all_of(digits, is_hex_digit)) {
      std::uint32_t bits = 0;
      const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
      if (digits.size() == 8 && !has_sign && failed == std::errc()) return std::bit_cast<float>(bits);
      line.refuse(concat("'", excerpt(word),
                         "' may be bits or a float in hex; bits have eight digits and no sign "
                         "(0x3dcccccd), a float in hex has an exponent (0x1.8p3)"));
    }
  }
  // strtof reads a point in every environment, because no program of tinymp calls setlocale(). Its "nan(...)" is
  // not taken.
  char* end = nullptr;
  const float value = std::strtof(word.c_str(), &end);
  if (end != word.c_str() + word.size() || word.empty() || word.ends_with(')'))
    line.refuse(concat("'", excerpt(word),
                       "' is not a number; give a decimal (0.1), a float in hex (0x1.8p3) or its "
                       "bits (0x3dcccccd)"));
  return value;
}

std::uint32_t random_in(const NumberLine& line, const std::string& word) {
  std::uint32_t value = 0;
  const char* const end = word.data() + word.size();
  const auto [stop, failed] = std::from_chars(word.data(), end, value);
  if (failed != std::errc() || stop != end)
    line.refuse(concat("'", excerpt(word),
                       "' is not a random integer of 32 bits; give one from 0 to 4294967295 in "
                       "decimal"));
  return value;
}

std::string text_of(float x) {
  if (x != x) return "nan";
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(x));
  return text;
}

}  // namespace tinymp::lab
