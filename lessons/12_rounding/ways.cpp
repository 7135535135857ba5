#include <lessons/05_master_weights/fine_tuning.h>
#include <lessons/12_rounding/rounding.h>
#include <tinymp/optim/optimizers.h>

namespace tinymp::lab {
namespace {

Recipe with_master(Recipe recipe, DType master, Rounding rounding = Rounding::nearest_even) {
  recipe.master = master;
  recipe.rounding.masters = rounding;
  return recipe;
}

}  // namespace

std::vector<Contender> ways_to_round() {
  return {{in_fp32, recipes::fp32},
          {bf16_master, recipes::bf16},
          {bf16_nearest, recipes::bf16_weights},
          {bf16_random, recipes::bf16_sr},
          {bf16_kahan, recipes::bf16_kahan},
          {bf16_zero, with_master(recipes::bf16, DType::bf16, Rounding::toward_zero)},
          {fp16_nearest, recipes::fp16_weights},
          {fp16_random, recipes::fp16_sr},
          {fp16_master, with_master(recipes::bf16, DType::f16)},
          {fp16_master_random, with_master(recipes::bf16, DType::f16, Rounding::stochastic)}};
}

std::vector<Contender> with_bf16_moments() {
  std::vector<Contender> all = {
      {bf16_master, recipes::bf16}, {bf16_random, recipes::bf16_sr}, {bf16_kahan, recipes::bf16_kahan}};
  for (Contender& contender : all) contender.recipe.state = DType::bf16;
  return all;
}

std::unique_ptr<Optimizer> sabotaged_if_asked(const Lab& lab, std::unique_ptr<Optimizer> optimizer) {
  optimizer->set_same_words_each_step(lab.sabotaged());
  return optimizer;
}

train::Plan rounding_plan(const Lab& lab, const char* question, const Contender& contender,
                          std::uint64_t seed, const nn::Model& start) {
  train::Plan plan = fine_tuning_plan(lab, contender, seed, start);
  plan.question = question;
  plan.optimizer = [&lab](std::vector<Tensor> parameters, const Recipe& recipe) {
    return sabotaged_if_asked(
        lab, std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = 2e-5f}, recipe));
  };
  plan.optimizer_name = "adam lr=2e-05";
  plan.steps = lab.steps(2000, 20);
  return plan;
}

}  // namespace tinymp::lab
