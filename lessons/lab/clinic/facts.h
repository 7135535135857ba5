#pragma once

#include <lessons/lab/clinic/case.h>
#include <map>

/// The facts of a log and a config as numbers. Causes are compared with them, and texts quote them.
namespace tinymp::clinic {

using Facts = std::map<std::string, double>;

/// A share lies between 0 and 1. A yes is 1 and a no is 0. NaN stands for a figure that was not measured or
/// does not exist.
Facts facts_of(const train::Run& run, const Json& config);

/// Fills facts into a text: "{skipped} of {steps}" -> "300 of 300"; {%lost}: a share in percent; {first bad}:
/// the log's sentence on its first bad tensor. Throws Error for a name that is no fact.
std::string filled(const std::string& text, const Facts& facts, const train::Run& run);

}  // namespace tinymp::clinic
