#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <lessons/13_eight_bits/wrapped.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>

// The autoencoder of lesson 06 with eight bits: a mean over batch and pixels makes small gradients.
namespace tinymp::lab {
namespace {

const std::string one = "E5M2, S = 1", thousand = "E5M2, S = 1024", dynamic_s = "E5M2, dynamic S",
                  exempt = "fp8_e5m2, S = 1", at_random = "E5M2, S = 1, stochastic", in_fp16 = "FP16, S = 1",
                  plain = "dynamic S", enhanced = "enhanced S";
constexpr float least = 1024;  ///< the floor
constexpr int often = 12;

std::vector<Contender> small_contenders() {
  Recipe of_paper = recipes::fp8_e5m2;
  of_paper.scaling = NoScaling{};
  Recipe random = e5m2_everywhere(NoScaling{});
  random.rounding = {.errors = Rounding::stochastic, .gradients = Rounding::stochastic};
  return {{in_fp32, recipes::fp32},
          {in_fp16, recipes::fp16_master},
          {one, e5m2_everywhere(NoScaling{})},
          {at_random, random},
          {exempt, of_paper},
          {thousand, e5m2_everywhere(StaticScaling{1024})},
          {dynamic_s, e5m2_everywhere(moving_scale)}};
}

train::Plan small_plan(Lab& lab, const std::string& question, const Contender& contender,
                       std::uint64_t seed) {
  train::Plan plan = autoencoder_plan(lab, question);
  plan.name = contender.name, plan.recipe = contender.recipe, plan.seed = seed;
  return plan;
}

std::vector<Contender> spurious_contenders(const Lab& lab) {
  EnhancedScaling rising{.dynamic = moving_scale};
  if (!lab.sabotaged()) rising.floor = {.at = {{1, least}}, .count = 1};
  return {{plain, e5m2_everywhere(moving_scale)}, {enhanced, e5m2_everywhere(rising)}};
}

std::vector<double> times_fp32(const Lab& lab, const std::string& question, const std::string& name) {
  return ratios(lab.results(question, name), lab.results(small_in_e5m2, in_fp32));
}

}  // namespace

train::Plan autoencoder_plan(const Lab& lab, const std::string& question) {
  return {.question = question,
          .task = train::Task::reconstruct,
          .model = train::model_of<nn::Autoencoder>({784, 64, 32, 64, 784}),
          .optimizer = train::optimizer_of<Adam>({.lr = 1e-2f}),
          .optimizer_name = "adam lr=0.01",
          .steps = lab.steps(400, 10),
          .batch = 128};
}

void ask_small(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds())
    for (const Contender& contender : small_contenders())
      lab.train(small_plan(lab, small_in_e5m2, contender, seed));
  const double unscaled = smallest(times_fp32(lab, small_in_e5m2, one)),
               scaled = largest(times_fp32(lab, small_in_e5m2, thousand)),
               moving = largest(times_fp32(lab, small_in_e5m2, dynamic_s));
  lab.verdict(small_in_e5m2,
              fmt::format("At S = 1 E5M2 ends at {} times FP32's error or more, at S = 1024 at "
                          "{} or less.",
                          fixed(unscaled, 2), fixed(scaled, 2)));
  lab.claim(unscaled >= 1.2, fmt::format("autoencoder in E5M2, S = 1: at least {} times FP32's error (1.2 "
                                         "asked)",
                                         fixed(unscaled, 2)));
  lab.claim(std::max(scaled, moving) <= 1.1,
            fmt::format("... S = 1024 and dynamic S: at most {} times (1.1 allowed)",
                        fixed(std::max(scaled, moving), 3)));
}

void ask_spurious(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : spurious_contenders(lab)) {
      train::Plan plan = small_plan(lab, spurious, contender, seed);
      plan.model = [inner = plan.model](const Recipe& recipe, Rng& rng) {
        return std::make_unique<Disturbed>(inner(recipe, rng), often);
      };
      lab.train(plan);
    }
  }
  const double pushed = smallest(times_fp32(lab, spurious, plain)),
               held = largest(times_fp32(lab, spurious, enhanced));
  lab.verdict(spurious,
              fmt::format("The dynamic S ends at {} times FP32's error or more, the enhanced one at "
                          "{} or less.",
                          fixed(pushed, 2), fixed(held, 2)));
  lab.claim(pushed >= 1.2, fmt::format("overflows without a cause, dynamic S: at least {} times FP32's error "
                                       "(1.2 asked)",
                                       fixed(pushed, 2)));
  lab.claim(held <= 1.15, fmt::format("... enhanced S: at most {} times (1.15 allowed)", fixed(held, 2)));
}

}  // namespace tinymp::lab
