#include <lessons/03_accumulation/trainings.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/optim/optimizers.h>

namespace tinymp::lab {
train::Plan plan_for(const std::string& question, const Curve& curve, std::uint64_t seed) {
  return {.question = question,
          .name = curve.name,
          .recipe = curve.recipe,
          .seed = seed,
          .optimizer = train::optimizer_of<Sgd>(sgd_options),
          .optimizer_name = "sgd lr=0.1 momentum=0.9"};
}

std::int64_t whole_batch(Lab& lab) { return lab.is_cut() ? 8192 : 4096; }
std::int64_t large_batch(Lab& lab) { return lab.options().smoke ? 256 : whole_batch(lab); }

train::Plan batch_norm_plan(Lab& lab, const std::string& question, const Curve& curve, std::uint64_t seed) {
  train::Plan plan = plan_for(question, curve, seed);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 128, 10}, curve.sums);
  plan.batch = large_batch(lab);
  plan.steps = lab.steps(60, 4);
  plan.log_every = 1;
  plan.pixels.invert = question == paper;
  return plan;
}

train::Plan matmul_plan(Lab& lab, const Curve& curve, std::uint64_t seed) {
  train::Plan plan = plan_for(matmuls, curve, seed);
  plan.model = train::model_of<nn::Mlp>({784, 128, 10});
  plan.batch = 128;
  plan.steps = lab.steps(600, 4);
  return plan;
}

}  // namespace tinymp::lab
