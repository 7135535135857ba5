#pragma once

#include <lessons/11_language_model/loop.h>
#include <map>

/// What lesson 11 says and claims of its trainings.
namespace tinymp::lab {

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
