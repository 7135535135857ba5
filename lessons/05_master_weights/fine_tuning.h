#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <vector>

/// What lesson 05 trains: model, optimizer, recipes. An MLP learns upright images in FP32. Then the MLP learns the
/// same images transposed, in the small steps of fine-tuning. Section 3.1 of the paper (Micikevicius et al.
/// 2018, arXiv 1710.03740) keeps an FP32 master copy of the weights for such steps. The accuracy is measured
/// on transposed test images. Quickstart trains this model too; lesson 09 varies it.
namespace tinymp::lab {

inline constexpr const char* small_updates = "Do small updates survive?";

/// Three curves: the same training under three recipes.
inline std::vector<Contender> small_updates_contenders() {
  return {{"FP32", recipes::fp32},
          {"FP16 weights", recipes::fp16_weights},
          {"FP16 + FP32 master", recipes::fp16_master}};
}

/// Returns a plan for Lab::prepare, which trains the model that fine-tuning starts from. All contenders of a seed
/// start from the same model.
inline train::Plan pretraining_plan(const Lab& lab, std::uint64_t seed) {
  return {.question = "What does fine-tuning start from?",
          .name = "pretraining",
          .seed = seed,
          .model = train::model_of<nn::Mlp>({784, 128, 10}),
          .optimizer = train::optimizer_of<Adam>({.lr = 1e-3f}),
          .optimizer_name = "adam lr=0.001",
          .steps = lab.steps(1000, 20),
          .batch = 128};
}

/// Returns the plan of a run that fine-tunes `start`. The model `start` must outlive the run.
inline train::Plan fine_tuning_plan(const Lab& lab, const Contender& contender, std::uint64_t seed,
                                    const nn::Model& start) {
  train::Plan plan = pretraining_plan(lab, seed);
  plan.question = small_updates;
  plan.name = contender.name;
  plan.recipe = contender.recipe;
  plan.pixels.transpose = true;
  plan.optimizer = train::optimizer_of<Adam>({.lr = 1e-5f});
  plan.optimizer_name = "adam lr=1e-05";
  plan.start = &start;
  plan.steps = lab.steps(3000, 20);
  plan.histogram_every = lab.steps(1000, 10);
  return plan;
}

}  // namespace tinymp::lab
