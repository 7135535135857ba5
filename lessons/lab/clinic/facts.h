#pragma once

#include <lessons/lab/clinic/case.h>
#include <map>

/// What a log and a config say, as numbers: what causes are held against, and what texts quote.
namespace tinymp::clinic {

using Facts = std::map<std::string, double>;

/// Shares lie between 0 and 1, what is so or not is 1 or 0, what was not measured or does not exist is NaN.
Facts facts_of(const train::Run& run, const Json& config);

/// "{skipped} of {steps}" -> "300 of 300"; {%lost}: a share in percent; {first bad}: the sentence with
/// which the log names the first bad tensor. Throws Error for a name that is no fact.
std::string filled(const std::string& text, const Facts& facts, const train::Run& run);

}  // namespace tinymp::clinic
