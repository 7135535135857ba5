#pragma once

#include <lessons/lab/learn/lab.h>
#include <span>
#include <string>

/// What lesson 09 shows and asks, each in the file of its name.
namespace tinymp::lab {

// ---- casts.cpp: what autocast does to a step, before anything is trained ----

void show_lists(Lab& lab);
void show_casts(Lab& lab);

// ---- loss.cpp: a loss that is written as single ops, under the lists and under others ----

/// -log(exp(y) / sum of exp(y)), as it is defined, without a word about formats.
Tensor plain_loss(const Tensor& y, std::span<const std::int32_t> labels);

void ask_about_the_loss(Lab& lab);

// ---- levels.cpp: Apex' levels O0 to O3, on a task that is easy for FP16 and on that of lesson 05 ----

void ask_about_levels(Lab& lab);

// ---- styles.cpp: the three programs of the literature, spelled out ----

void compare_styles(Lab& lab);

// ---- claims.cpp ----

/// FP32, the curve that all others are compared with.
inline constexpr const char* o0 = "O0";

/// Prints under `heading` what a run found out about its infinities and NaN: the first seed's that has any.
void show_findings(Lab& lab, const std::string& question, const char* name, const char* heading);

/// Not further than `allowed` points from O0, on any seed, above or below. `what`: the curve in the words of
/// the claim.
void claim_as_o0(Lab& lab, const std::string& question, const char* name, const std::string& what,
                 double allowed);

}  // namespace tinymp::lab
