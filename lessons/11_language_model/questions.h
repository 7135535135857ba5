#pragma once

#include <lessons/11_language_model/loop.h>
#include <map>

/// What lesson 11 shows and claims.
namespace tinymp::lab {

/// One backward each of new models, from V x tokens = 2^22 to 2^27 with three V: prints which share of the
/// errors at the logits FP16 flushes at S = 1, and claims where the line lies. (condition.cpp)
void show_condition(Lab& lab);

// What its trainings say. (verdicts.cpp)

/// The results of each curve, seed by seed.
using AllTrained = std::map<std::string, std::vector<Trained>>;

/// What becomes of the errors of a curve as its model learns; the first seed.
void show_left(Lab& lab, const AllTrained& all, const std::string& name);
/// How probable rare words are in the end; the first seed.
void show_rare(Lab& lab, const AllTrained& all);

void claim_errors(Lab& lab, const AllTrained& all);
void claim_perplexity(Lab& lab);
void claim_rare(Lab& lab, const AllTrained& all);

}  // namespace tinymp::lab
