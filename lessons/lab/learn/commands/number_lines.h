#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

/// Numbers from standard input, a few words a line: what ./learn convert and ./learn scale-trace read.
namespace tinymp::lab {

/// The words of one line, and where they are.
struct NumberLine {
  std::vector<std::string> words;
  int line = 0;  ///< from 1 on

  [[noreturn]] void refuse(const std::string& what) const;  ///< throws UsageError, "line 3: ..."
  /// Throws UsageError unless the line has so many words. `meaning` says what they are: "a number".
  void expect_words(std::size_t count, const std::string& meaning) const;
};

/// Calls work(line) for each line of standard input, empty lines too. Throws UsageError when standard input is
/// a terminal; `example` is what to type instead.
void for_each_number_line(const std::string& example, const std::function<void(const NumberLine&)>& work);

/// Returns the binary32 number that a word stands for. Throws UsageError, which names the line, when it stands for
/// none. A word is one of
///   - a decimal, rounded once, to nearest even (0.1, -3, 1e-45, inf, nan)
///   - a float in hex, with a point or an exponent (0x1.8p3), rounded once
///   - its bits, 0x and eight hex digits (0x3dcccccd)
float float_in(const NumberLine& line, const std::string& word);

/// Returns the 32-bit integer that a word in decimal stands for. Throws UsageError like float_in().
std::uint32_t random_in(const NumberLine& line, const std::string& word);

/// "%.9g", which tells all floats apart; "inf", "-inf", and "nan" without a sign.
std::string text_of(float x);

}  // namespace tinymp::lab
