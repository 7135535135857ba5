#include <lessons/07_dynamic_scaling/models.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/optim/optimizers.h>

namespace tinymp::lab {
namespace {

train::Plan small_mlp() {
  return {.model = train::model_of<nn::Mlp>({784, 64, 10}),
          .optimizer = train::optimizer_of<Sgd>({.lr = 0.1f, .momentum = 0.9f}),
          .optimizer_name = "sgd lr=0.1 momentum=0.9"};
}

train::Plan residual_net() {
  return {
      .model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(64, 12, r, rng); },
      .optimizer = train::optimizer_of<Adam>({.lr = 1e-3f}),
      .optimizer_name = "adam lr=0.001"};
}

}  // namespace

std::vector<Contender> contenders(const Lab& lab, const Model& model) {
  Recipe one = recipes::fp16_static, popular = recipes::fp16_static, dynamic = recipes::fp16_dynamic;
  one.scaling = StaticScaling{1};
  popular.scaling = StaticScaling{1024};
  // Sabotage: an overflow lowers S by only 2^-20 of itself.
  dynamic.scaling = DynamicScaling{.backoff = lab.sabotaged() ? 1 - 0x1p-20 : 0.5, .growth_interval = 100};
  std::vector<Contender> all{{"FP32", recipes::fp32},
                             {"FP16, S = 1", one},
                             {"FP16, S = 1024", popular},
                             {"FP16, dynamic S", dynamic}};
  if (&model == &residual) {
    Recipe skipping = recipes::fp16_static, in_between = recipes::fp16_static;
    skipping.scaling = StaticScaling{.factor = DynamicScaling{}.initial, .skip_nonfinite = true};
    in_between.scaling = StaticScaling{64};
    all.insert(all.end(), {{skips_all, skipping}, {"FP16, S = 64", in_between}});
  }
  return all;
}

train::Plan plan_for(Lab& lab, const Model& model, const Contender& contender, std::uint64_t seed) {
  train::Plan plan = &model == &classifier ? small_mlp()
                     : &model == &residual ? residual_net()
                                           : autoencoder_plan(lab, contender, seed);
  plan.question = model.name;
  plan.name = contender.name;
  plan.recipe = contender.recipe;
  plan.seed = seed;
  if (&model != &autoencoder) {
    plan.steps = lab.steps(600, 20);
    plan.histogram_every = lab.steps(200, 3);
  }
  if (&model == &residual) plan.log_every = 1;  // print_trace() needs every step
  return plan;
}

}  // namespace tinymp::lab
