#pragma once

#include <fmt/format.h>
#include <lessons/lab/learn/lab.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <string>

/// The classifier of lessons 08 and 09.
namespace tinymp::lab {

/// Every step is logged. With --smoke 100 steps.
inline train::Plan classifier_plan(const Lab& lab, const std::string& question, const std::string& name,
                                   const Recipe& recipe, std::uint64_t seed) {
  return {.question = question,
          .name = name,
          .recipe = recipe,
          .seed = seed,
          .model = train::model_of<nn::Mlp>({784, 128, 10}),
          .optimizer = train::optimizer_of<Sgd>({.lr = 0.1f, .momentum = 0.9f}),
          .optimizer_name = "sgd lr=0.1 momentum=0.9",
          .steps = lab.steps(600, 100),
          .batch = 128,
          .log_every = 1};
}

/// Its loss falls, and it ends not more than a point below `twin` on any seed.
inline void claim_trains(Lab& lab, const std::string& question, const std::string& name,
                         const std::string& twin) {
  lab.claim_falls(question, name, "... " + name);
  const double below = largest(differences(lab.results(question, twin), lab.results(question, name)));
  const double allowed = lab.is_cut() ? 3 : 1;
  lab.claim(below <= allowed, fmt::format("... {}: at most {} points below {} ({} allowed)", name,
                                          fixed(std::max(below, 0.0), 2), twin, allowed));
}

}  // namespace tinymp::lab
