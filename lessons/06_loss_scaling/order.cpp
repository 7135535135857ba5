#include <fmt/format.h>
#include <lessons/06_loss_scaling/autoencoder.h>
#include <lessons/06_loss_scaling/questions.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

namespace tinymp::lab {
namespace {

const std::string division = "Must the gradients be divided by S?",
                  clipping = "May gradients be clipped before they are divided?";
const char *const fp32 = "FP32", *const divided = "FP16, S = 1024, divided",
                  *const not_divided = "FP16, S = 1024, not divided";
const char *const fp32_clipped = "FP32, clipped", *const in_order = "FP16, divided, then clipped",
                  *const wrong_order = "FP16, clipped, then divided";
constexpr float largest_norm = 1;
constexpr int first_steps = 5;

struct Classifier {
  const char* name;
  Recipe recipe;
  float lr = 0.1f;
  float clip = 0;
  const char* note = "";
};

std::unique_ptr<nn::Model> make_classifier(const Recipe& recipe, Rng& rng) {
  return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 64, 10}, recipe, rng);
}

train::Plan plan_of(const Lab& lab, const std::string& question, const Classifier& c, std::uint64_t seed) {
  train::Plan plan;
  plan.question = question;
  plan.name = c.name;
  plan.recipe = c.recipe;
  plan.seed = seed;
  plan.model = make_classifier;
  plan.optimizer = train::optimizer_of<Sgd>({.lr = c.lr});
  plan.optimizer_name = concat("sgd lr=", c.lr, c.note);
  plan.steps = lab.steps(1000, first_steps);
  plan.clip = c.clip;
  return plan;
}

/// A learning rate that is S times as large imitates gradients that are not divided by S, although the scaler divides
/// them. The imitation is exact, because S is a power of two.
Classifier undivided(const char* name) {
  return {name, recipes::fp16_static, 0.1f * static_scale, 0, ", which is lr=0.1 without the division"};
}

/// Sabotage: the run named "divided" imitates gradients that are not divided by S.
Classifier believed_divided(const Lab& lab) {
  return lab.sabotaged() ? undivided(divided) : Classifier{divided, recipes::fp16_static};
}

double farthest(const nn::Model& a, const nn::Model& b) {
  double distance = 0;
  const std::vector<Tensor> of_a = tensors(a.parameters()), of_b = tensors(b.parameters());
  for (std::size_t p = 0; p < of_a.size(); ++p) {
    const std::vector<float> x = of_a[p].to_floats(), y = of_b[p].to_floats();
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (std::isnan(x[i]) || std::isnan(y[i])) return train::not_measured;
      distance = std::max(distance, static_cast<double>(std::abs(x[i] - y[i])));
    }
  }
  return distance;
}

/// Claims that after a few steps the weights of the divided run are close to those of FP32.
void claim_first_steps(Lab& lab) {
  const auto after_few = [&](const Classifier& classifier) {
    train::Plan plan = plan_of(lab, division, classifier, lab.seeds().front());
    plan.steps = first_steps;
    return lab.prepare(plan);
  };
  const double distance = farthest(*after_few({fp32, recipes::fp32}), *after_few(believed_divided(lab)));
  lab.number("farthest from FP32 after 5 steps, divided", distance);
  lab.claim(
      distance <= 1e-3,
      fmt::format("SGD, divided: after {} steps no weight is farther than {} from FP32's (1e-3 allowed)",
                  first_steps, std::isnan(distance) ? "NaN" : fmt::format("{:.1e}", distance)),
      Lab::Judged::in_smoke_too);
}

/// Returns the error message of clip_norm for these gradients, or "" if clip_norm accepts them.
std::string refusal(Gradients& gradients) {
  try {
    clip_norm(gradients, largest_norm);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void show_refusal(Lab& lab) {
  const Recipe recipe = recipes::fp16_static;
  Rng rng(0);
  const std::unique_ptr<nn::Model> model = make_classifier(recipe, rng);
  move_to(*model, lab.device());
  Sgd optimizer(tensors(model->parameters()), {}, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, 64, 0);
  const data::Batch batch = to(loader.next(), lab.device());
  {
    Tape tape;
    tape.backward(scaler.scale(cross_entropy((*model)(batch.images), batch.labels)));
  }
  Gradients gradients = optimizer.gradients();
  const std::string message = refusal(gradients);
  UnscaleResult check = scaler.unscale(gradients);
  const double norm = clip_norm(gradients, largest_norm).item();
  scaler.update(std::move(check));
  lab.say("\nThe first step of a classifier 784-64-10, S = 1024");
  lab.say(fmt::format("  norm of all gradients: {:.3f}; multiplied by S: {:.0f}", norm, norm * static_scale));
  lab.say("  error before the division: " + (message.empty() ? "none" : message));
  lab.claim(!message.empty(), "clip_norm refuses gradients that are still multiplied by S",
            Lab::Judged::in_smoke_too);
}

}  // namespace

void ask_about_division(Lab& lab) {
  claim_first_steps(lab);
  for (const std::uint64_t seed : lab.seeds()) {
    lab.train(plan_of(lab, division, {fp32, recipes::fp32}, seed));
    lab.train(plan_of(lab, division, believed_divided(lab), seed));
    lab.train(plan_of(lab, division, undivided(not_divided), seed));
  }
  const std::vector<double> reference = lab.results(division, fp32);
  const double gap = largest_gap(reference, lab.results(division, divided));
  const double best = largest(lab.results(division, not_divided));
  const std::string ends = std::isnan(best) ? "in NaN" : fmt::format("at {} % or below", fixed(best, 1));
  const bool fails = std::isnan(best) || best < 50;
  lab.verdict(
      division,
      fails ? fmt::format(
                  "Yes: without the division the run ends {}, with the division within {} points of FP32.",
                  ends, fixed(gap, 2))
            : fmt::format("Here the run without the division ends {}.", ends));
  lab.claim(gap <= 0.5, fmt::format("SGD, divided: within {} points of FP32 (0.5 allowed)", fixed(gap, 2)));
  lab.claim(fails, fmt::format("SGD, not divided: ends {} (below 50 % asked)", ends));
}

void ask_about_clipping(Lab& lab) {
  show_refusal(lab);
  // Suppose gradients that are S times too large are clipped to norm 1, and then divided by S. This equals
  // clipping the true gradients to 1/S, apart from the 1e-6 that clip_norm adds to the norm.
  const Classifier contestants[] = {
      {fp32_clipped, recipes::fp32, 0.1f, largest_norm, ", clipped to norm 1"},
      {in_order, recipes::fp16_static, 0.1f, largest_norm, ", clipped to norm 1"},
      {wrong_order, recipes::fp16_static, 0.1f, largest_norm / static_scale,
       ", clipped to norm 1 before the division"},
  };
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Classifier& classifier : contestants) lab.train(plan_of(lab, clipping, classifier, seed));
  }
  const std::vector<double> reference = lab.results(clipping, fp32_clipped);
  const double gap = largest_gap(reference, lab.results(clipping, in_order));
  const double lost = smallest(differences(reference, lab.results(clipping, wrong_order)));
  lab.verdict(clipping,
              fmt::format("{}: the run that clips first ends at least {} points below FP32, the run that "
                          "divides first within {} points.",
                          lost > 5 ? "No" : "Here", fixed(lost, 1), fixed(gap, 2)));
  lab.claim(gap <= 0.5,
            fmt::format("divided, then clipped: within {} points of FP32 (0.5 allowed)", fixed(gap, 2)));
  lab.claim(lost >= 10,
            fmt::format("clipped, then divided: at least {} points below FP32 (10 asked)", fixed(lost, 1)));
}

}  // namespace tinymp::lab
