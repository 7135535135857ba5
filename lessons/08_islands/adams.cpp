#include <fmt/format.h>
#include <lessons/08_islands/classifier.h>
#include <lessons/08_islands/questions.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/data/loader.h>
#include <tinymp/numeric/half.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

const std::string states = "May Adam keep its moments in FP16?";
const char *const f32_state = "FP32 moments", *const f16_state = "FP16 moments",
                  *const f16_epsilon = "FP16 moments, epsilon in FP16",
                  *const f32_large = "FP32 moments, epsilon 1e-4",
                  *const f16_large = "FP16 moments, epsilon 1e-4", *const bf16_state = "BF16 moments";

struct Variant {
  const char* name;
  DType state;
  float epsilon = 1e-8f;
};

std::vector<Variant> variants() {
  return {{f32_state, DType::f32},        {f16_epsilon, DType::f16, static_cast<float>(half(1e-8f))},  // 0
          {f16_state, DType::f16},        {f32_large, DType::f32, 1e-4f},
          {f16_large, DType::f16, 1e-4f}, {bf16_state, DType::bf16}};
}

/// What FP16 would leave of the moments that Adam holds in FP32 after its first step.
void show_moments(Lab& lab) {
  const Recipe recipe = recipes::fp16_static;
  const std::unique_ptr<nn::Model> model =
      train::make_model(classifier_plan(lab, states, "moments", recipe, lab.options().first_seed), recipe);
  Adam optimizer(tensors(model->parameters()), {}, recipe);
  LossScaler scaler(recipe.scaling);
  const data::Batch batch = data::Loader(lab.data().train, 128, 0).next();
  {
    Tape tape;
    tape.backward(scaler.scale(cross_entropy((*model)(batch.images), batch.labels)));
  }
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  optimizer.step(gradients, check);
  scaler.update(std::move(check));
  lab.say("\nAdam's moments after step 1, those that are not 0 in FP32     largest    0 in FP16 (%)");
  for (const std::size_t k : {0u, 1u}) {
    double values = 0, flushed = 0, most = 0;
    for (const float x : optimizer.moments()[k].to_floats()) {
      if (x == 0) continue;
      values += 1;
      flushed += half(x) == half(0.0f);
      most = std::max(most, std::abs(static_cast<double>(x)));
    }
    const std::string name = k == 0 ? "first moment, 0.1 g" : "second moment, 0.001 g^2";
    lab.say(fmt::format("  {:<54} {:>12.2g} {:>16.1f}", name, most, 100 * flushed / values));
    lab.number(name + ": flushed (%)", 100 * flushed / values);
  }
}

train::Plan plan_for(const Lab& lab, const Variant& variant, std::uint64_t seed) {
  Recipe recipe = recipes::fp16_static;
  recipe.state = variant.state;
  train::Plan plan = classifier_plan(lab, states, variant.name, recipe, seed);
  plan.optimizer = train::optimizer_of<Adam>({.epsilon = variant.epsilon});
  plan.optimizer_name = fmt::format("adam lr=0.001 epsilon={:g}", variant.epsilon);
  return plan;
}

}  // namespace

void ask_about_adam(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Variant& variant : variants()) lab.train(plan_for(lab, variant, seed));
  }
  lab.verdict_on_nan(states, {f32_state, f16_epsilon, f16_state, f32_large, f16_large, bf16_state});
  show_moments(lab);
  for (const char* name : {f16_epsilon, f16_state}) {
    lab.say_findings(name, *lab.runs(states, name).front());
    lab.claim_nan(states, name, concat("Adam, ", name));
  }
  claim_trains(lab, states, f16_large, f32_large);
  claim_trains(lab, states, bf16_state, f32_state);
}

}  // namespace tinymp::lab
