// Lesson 06 - Loss scaling: do small gradients survive?
//
// An autoencoder whose loss is the mean over a large batch and all pixels: every gradient starts out divided
// by batch x 784 and shrinks on its way through four sigmoids, past 2^-25, where FP16 rounds to zero.
// Expected: with S = 1 the first layers hardly learn; with the loss multiplied by S = 1024, and the gradients
// divided by it in FP32 before the update, FP16 trains as FP32 does. So does a scale that finds S by itself
// (lesson 07). Last the division: a classifier under plain SGD, whose gradients are not divided again, does
// not train at all.

#include <fmt/format.h>
#include <lessons/learn/experiments.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/sgd.h>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const std::string division = "Must the gradients be divided again?";
const char *const fp32 = "FP32", *const divided = "FP16, S = 1024, divided",
                  *const not_divided = "FP16, S = 1024, not divided";

/// A classifier under SGD. Gradients S times too large are a learning rate S times too large: S is a power of
/// two, so that this is exact, and the division need not be taken out of the scaler.
train::Plan classifier_plan(const Lab& lab, const Contender& contender, bool divides, std::uint64_t seed) {
  train::Plan plan;
  plan.question = division;
  plan.name = contender.name;
  plan.recipe = contender.recipe;
  plan.seed = seed;
  plan.model = [](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 64, 10}, recipe, rng);
  };
  const float lr = divides ? 0.1f : 0.1f * static_scale;
  plan.optimizer = [lr](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = lr}, recipe);
  };
  plan.optimizer_name =
      fmt::format("sgd lr={}{}", lr, divides ? "" : ", which is lr=0.1 without the division");
  plan.steps = lab.steps(1000, 5);
  return plan;
}

void claim_division(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    lab.train(classifier_plan(lab, {fp32, recipes::fp32}, true, seed));
    // Sabotage: S is ignored in unscale.
    lab.train(classifier_plan(lab, {divided, recipes::fp16_static}, !lab.sabotaged(), seed));
    lab.train(classifier_plan(lab, {not_divided, recipes::fp16_static}, false, seed));
  }
  const std::vector<double> reference = lab.results(division, fp32);
  const double gap = largest(differences(reference, lab.results(division, divided)));
  const double best = largest(lab.results(division, not_divided));
  const std::string ends = std::isnan(best) ? "in NaN" : fmt::format("at {} % or below", fixed(best, 1));
  const bool fails = std::isnan(best) || best < 50;
  lab.verdict(division, fails
                            ? fmt::format("Yes: undivided it ends {}, divided at most {} points below FP32.",
                                          ends, fixed(gap, 2))
                            : fmt::format("Here undivided it ends {}.", ends));
  lab.claim(gap <= 0.5,
            fmt::format("SGD, divided: at most {} points below FP32 (0.5 allowed)", fixed(gap, 2)));
  lab.claim(fails, fmt::format("SGD, not divided: ends {} (below 50 % asked)", ends));
}

void experiment(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : small_gradients_contenders()) {
      lab.train(autoencoder_plan(lab, contender, seed));
    }
  }

  const SmallGradients measured = measured_small_gradients(lab);
  lab.verdict(small_gradients, verdict_on(measured));

  // The chapter promises this of every seed, not of the mean. A NaN makes a claim fail.
  const double asked = lab.is_cut() ? 1.15 : 1.30;
  const double unscaled = smallest(ratios(measured.unscaled, measured.fp32));
  const double constant = largest(ratios(measured.static_scaled, measured.fp32));
  const double dynamic = largest(ratios(measured.dynamic_scaled, measured.fp32));
  lab.claim(unscaled >= asked,
            fmt::format("S = 1: at least {} times FP32's MSE ({:.2f} asked)", fixed(unscaled, 2), asked));
  lab.claim(constant <= 1.05,
            fmt::format("S = 1024: at most {} times FP32's MSE (1.05 allowed)", fixed(constant, 3)));
  lab.claim(dynamic <= 1.05,
            fmt::format("dynamic S: at most {} times FP32's MSE (1.05 allowed)", fixed(dynamic, 3)));
  claim_division(lab);
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv,
      {.name = "06_loss_scaling",
       .title = "Loss scaling: do small gradients survive?",
       .question = "Trains an autoencoder in FP32 and in FP16 with S = 1, a static and a dynamic loss scale",
       .sabotage = "unscale"},
      experiment);
}
