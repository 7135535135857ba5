#pragma once

#include <lessons/lab/learn/lab.h>
#include <string>
#include <vector>

/// What the trainings of lesson 08 share, and what it says and claims about them.
namespace tinymp::lab {

/// 600 steps of 128 images (100 with --smoke), without model and optimizer.
train::Plan classifier_plan(const Lab& lab, const std::string& question, const char* name,
                            const Recipe& recipe, std::uint64_t seed);

/// Prints under `heading` what the first seed's run found out about its infinities and NaN.
void tell_findings(Lab& lab, const std::string& question, const char* name, const char* heading);

/// NaN on every seed, and when. `what`: the curve in the words of the claim.
void claim_nan(Lab& lab, const std::string& question, const char* name, const std::string& what,
               Lab::Judged when = Lab::Judged::in_smoke_too);
/// Not more than a point below `twin` on any seed. With --smoke: the loss falls.
void claim_trains(Lab& lab, const std::string& question, const char* name, const char* twin);

/// Which of the curves trained, and which ended in NaN.
void give_verdict(Lab& lab, const std::string& question, const std::vector<std::string>& curves);

}  // namespace tinymp::lab
