#pragma once

#include <string>

/// Numbers as a reader wants them, the same in every locale. NaN is always "NaN", an infinity "inf" or
/// "-inf".
namespace tinymp::report {

std::string short_number(double value, int digits = 3);  ///< significant digits: "0.0735", "93.9", "1.2e-07"
std::string fixed_digits(double value, int digits = 4);  ///< the same, keeping zeros at the end: "0.04200"
std::string fixed(double value, int digits);             ///< `digits` after the point: "83.0"
std::string metric_text(double value);                   ///< a result in 3 or 4 digits: "0.0420", "93.88"
std::string percent(double share);     ///< 0.8312 -> "83 %", 0.0042 -> "0.4 %", 0.0001 -> "<0.1 %"
std::string scale_text(double scale);  ///< a loss scale: "1024", "65536", "2^24", "0.25", "2^-10"
std::string bytes_text(double bytes);  ///< "812 B", "4.21 MB", "1.3 GB": powers of 1000
std::string duration(double seconds);  ///< "0.4 s", "12 s", "3 min 20 s", "2 h 05 min"

/// 2^n == value: n in `exponent`.
bool is_power_of_two(double value, int& exponent);

}  // namespace tinymp::report
