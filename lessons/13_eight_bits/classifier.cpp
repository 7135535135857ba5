#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>

namespace tinymp::lab {
namespace {

const std::string e5m2_one = "E5M2 everywhere, S = 1", paper = "fp8_e5m2, dynamic S",
                  wide_masters = "... with FP32 masters", text_rounds = "activations, gradients stochastic",
                  code_rounds = "errors, gradients, masters stochastic";

/// The paper's text rounds activations and gradients stochastically; gradients are read here as those of weights. The
/// authors' emulator rounds errors, gradients and masters so, and never activations.
std::vector<Contender> easy_contenders() {
  Recipe of_text = recipes::fp8_e5m2;
  of_text.scaling = moving_scale;
  Recipe of_code = of_text;
  of_text.rounding = {.activations = Rounding::stochastic, .gradients = Rounding::stochastic};
  of_code.rounding = {
      .errors = Rounding::stochastic, .gradients = Rounding::stochastic, .masters = Rounding::stochastic};
  Recipe nearest = recipes::fp8_e5m2;
  nearest.scaling = moving_scale;
  Recipe wide = nearest;
  wide.master = DType::f32;
  return {{in_fp32, recipes::fp32}, {e5m2_one, e5m2_everywhere(NoScaling{})},
          {paper, nearest},         {wide_masters, wide},
          {text_rounds, of_text},   {code_rounds, of_code}};
}

const std::string e4m3_one = "errors in E4M3, S = 1", e4m3_8 = "errors in E4M3, S = 8",
                  e4m3_64 = "errors in E4M3, S = 64", e4m3_moving = "errors in E4M3, dynamic S",
                  errors_e5m2 = "errors in E5M2, S = 1";

Recipe with_errors_in_e4m3(LossScaling scaling) {
  Recipe recipe = e5m2_everywhere(scaling);
  recipe.eight_bits.backward = recipe.eight_bits.gradient = DType::e4m3;
  return recipe;
}

std::vector<Contender> errors_contenders() {
  return {{in_fp32, recipes::fp32},
          {errors_e5m2, e5m2_everywhere(NoScaling{})},
          {e4m3_one, with_errors_in_e4m3(NoScaling{})},
          {e4m3_8, with_errors_in_e4m3(StaticScaling{8})},
          {e4m3_64, with_errors_in_e4m3(StaticScaling{64})},
          {e4m3_moving, with_errors_in_e4m3(moving_scale)}};
}

train::Plan classifier_plan(const std::string& question, const Contender& contender, std::uint64_t seed) {
  return {.question = question,
          .name = contender.name,
          .recipe = contender.recipe,
          .seed = seed,
          .model = train::model_of<nn::Mlp>({784, 64, 64, 64, 10}),
          .optimizer = train::optimizer_of<Sgd>({.lr = 0.1f, .momentum = 0.9f}),
          .optimizer_name = "sgd lr=0.1 momentum=0.9 cosine",
          .schedule = ScheduleKind::cosine,
          .batch = 64};
}

std::vector<double> points_below(const Lab& lab, const std::string& question, const std::string& name) {
  return differences(lab.results(question, in_fp32), lab.results(question, name));
}

}  // namespace

void ask_easy(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : easy_contenders()) {
      train::Plan plan = classifier_plan(easy, contender, seed);
      plan.steps = lab.steps(500, 10);
      lab.train(plan);
    }
  }
  double most = 0;
  for (const Contender& contender : easy_contenders())
    most = std::max(most, largest(points_below(lab, easy, contender.name)));
  lab.verdict(easy, fmt::format("No: in eight bits it ends at most {} points below FP32, even at S = 1.",
                                fixed(most, 2)));
  lab.claim(most <= 1.5, fmt::format("an easy classifier: every recipe in E5M2 ends at most {} points below "
                                     "FP32 (1.5 allowed)",
                                     fixed(most, 2)));
}

void ask_errors(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : errors_contenders()) {
      train::Plan plan = classifier_plan(errors_format, contender, seed);
      plan.steps = lab.steps(100, 10);
      plan.batch = lab.options().smoke ? 64 : 1024;
      lab.train(plan);
    }
  }
  const double one = smallest(points_below(lab, errors_format, e4m3_one));
  const double moving = largest(points_below(lab, errors_format, e4m3_moving));
  lab.verdict(errors_format, fmt::format("E4M3 at S = 1 ends {} points below FP32 or more, with a dynamic S "
                                         "{} or less.",
                                         fixed(one, 1), fixed(moving, 1)));
  lab.claim(one >= 5,
            fmt::format("errors in E4M3, S = 1: at least {} points below FP32 (5 asked)", fixed(one, 1)));
  const double scaled = largest(points_below(lab, errors_format, e4m3_64)),
               in_e5m2 = largest(points_below(lab, errors_format, errors_e5m2));
  lab.claim(std::max(scaled, in_e5m2) <= 2,
            fmt::format("... S = 64 at most {} points, E5M2 at S = 1 {} (2 allowed)", fixed(scaled, 2),
                        fixed(in_e5m2, 2)));
  lab.claim(moving <= 4, fmt::format("... a dynamic S at most {} points (4 allowed)", fixed(moving, 2)));
}

}  // namespace tinymp::lab
