#pragma once

#include <lessons/lab/learn/lab.h>
#include <string>
#include <vector>

/// What lesson 09 says and claims about its trainings.
namespace tinymp::lab {

/// FP32, the curve that all others are compared with.
inline constexpr const char* o0 = "O0";

/// Prints under `heading` what a run found out about its infinities and NaN: the first seed's that has any.
void tell_findings(Lab& lab, const std::string& question, const char* name, const char* heading);

// In what follows `what` is the curve in the words of the claim.

/// NaN on every seed, and when.
void claim_nan(Lab& lab, const std::string& question, const char* name, const std::string& what);

/// Not further than `allowed` points from O0, on any seed, above or below.
void claim_as_o0(Lab& lab, const std::string& question, const char* name, const std::string& what,
                 double allowed);

/// The loss falls to half of what it was; judged with --smoke too.
void claim_falls(Lab& lab, const std::string& question, const char* name, const std::string& what);

/// Which of the curves trained, and which ended in NaN.
std::string nan_or_trained(const Lab& lab, const std::string& question,
                           const std::vector<const char*>& curves);

}  // namespace tinymp::lab
