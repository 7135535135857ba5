#pragma once

#include <optional>
#include <string>
#include <string_view>

/// A number as other programs write it.
namespace tinymp::report {

/// True for what stands for a value that is not there: "", "NA", "N/A", "None", "null", "-".
bool is_missing(std::string_view text);

/// "0.25", "+1e-3", " 7 ", "nan", "-NaN", "Inf", "-infinity", "1.#QNAN", "-1.#INF". A number beyond the range of double
/// is an infinity, one too small for it 0. Nothing for any other text.
std::optional<double> csv_number(std::string_view text);

}  // namespace tinymp::report
