#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <vector>

/// What lesson 06 trains: model, optimizer, recipes. The autoencoder has a sigmoid after every layer. Its loss is
/// the mean over batch and pixels. So each gradient is divided by batch x 784, and four sigmoids shrink the
/// gradients further. Section 3.2 of the paper (Micikevicius et al. 2018, arXiv 1710.03740) uses loss scaling for such
/// gradients. Quickstart trains this model too; lessons 01 and 07 vary it.
namespace tinymp::lab {

inline constexpr const char* small_gradients = "Do small gradients survive?";
inline constexpr float static_scale = 1024;

/// Four curves: the same training under four recipes.
inline std::vector<Contender> small_gradients_contenders() {
  Recipe constant = recipes::fp16_static, dynamic = recipes::fp16_dynamic;
  constant.scaling = StaticScaling{.factor = static_scale};
  // The default interval is 2000 steps. With it S would not grow in a run of 400 steps.
  dynamic.scaling = DynamicScaling{.growth_interval = 100};
  return {{"FP32", recipes::fp32},
          {"FP16, S = 1", recipes::fp16_master},
          {"FP16, static S = 1024", constant},
          {"FP16, dynamic S", dynamic}};
}

/// Returns the plan of one run. On the small built-in MNIST a run takes half as many steps as on the full MNIST, and
/// the batch is twice as large. A larger batch makes the gradients smaller, and the experiment needs small gradients.
inline train::Plan autoencoder_plan(Lab& lab, const Contender& contender, std::uint64_t seed) {
  return {
      .question = small_gradients,
      .name = contender.name,
      .recipe = contender.recipe,
      .seed = seed,
      .task = train::Task::reconstruct,
      .model = train::model_of<nn::Autoencoder>({784, 64, 32, 64, 784}),
      .optimizer = train::optimizer_of<Adam>({.lr = 1e-2f}),
      .optimizer_name = "adam lr=0.01",
      .steps = lab.steps(lab.is_cut() ? 200 : 400, 6),
      .batch = lab.options().smoke ? 256
               : lab.is_cut()      ? 4096
                                   : 2048,
      .log_every = 5,
      .shadow_every = has_narrow_gradients(contender.recipe) ? lab.steps(50, 3) : 0,  // costs an FP32 step
      .histogram_every = lab.steps(100, 3)};
}

}  // namespace tinymp::lab
