// Lesson 07 - Dynamic loss scaling: which S is right?
//
// Three models, each trained with S = 1, with S = 1024 (a popular choice) and with a scale that follows the
// gradients: it is halved when one overflows (that step is skipped) and doubled after 100 good steps in a
// row. Expected: S = 1024 trains the autoencoder and destroys a residual net without normalisation within a
// few steps; S = 1 does the reverse; one dynamic setting trains all three. This is not to say that no common
// S exists: only that nobody knows it beforehand.

#include <fmt/format.h>
#include <lessons/learn/experiments.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/adam.h>
#include <tinymp/optim/sgd.h>
#include <algorithm>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const std::string classifier = "Classifier", residual = "Residual net, 12 blocks",
                  autoencoder = "Autoencoder";

std::vector<Contender> contenders() {
  Recipe one = recipes::fp16_static, popular = recipes::fp16_static, dynamic = recipes::fp16_dynamic;
  one.scaling = StaticScaling{1};
  popular.scaling = StaticScaling{1024};
  dynamic.scaling = DynamicScaling{.growth_interval = 100};
  return {{"FP32", recipes::fp32},
          {"FP16, S = 1", one},
          {"FP16, S = 1024", popular},
          {"FP16, dynamic S", dynamic}};
}

train::Plan classifier_plan() {
  train::Plan plan;
  plan.question = classifier;
  plan.model = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 64, 10}, r, rng);
  };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& r) {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 0.1f, .momentum = 0.9f}, r);
  };
  plan.optimizer_name = "sgd lr=0.1 momentum=0.9";
  return plan;
}

train::Plan residual_plan() {
  train::Plan plan;
  plan.question = residual;
  plan.model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::ResidualMlp>(64, 12, r, rng); };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& r) {
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = 1e-3f}, r);
  };
  plan.optimizer_name = "adam lr=0.001";
  return plan;
}

train::Plan plan_for(Lab& lab, const std::string& model, const Contender& contender, std::uint64_t seed) {
  train::Plan plan = model == classifier ? classifier_plan()
                     : model == residual ? residual_plan()
                                         : autoencoder_plan(lab, contender, seed);
  plan.question = model;
  plan.name = contender.name;
  plan.recipe = contender.recipe;
  plan.seed = seed;
  if (model != autoencoder) plan.steps = lab.steps(600, 5);
  return plan;
}

/// How much worse than FP32, seed by seed: points of accuracy, or the ratio of the MSE. NaN for a run that
/// ended in NaN.
std::vector<double> harm(const Lab& lab, const std::string& model, const std::string& name) {
  const std::vector<double> fp32 = lab.results(model, "FP32"), other = lab.results(model, name);
  return model == autoencoder ? ratios(other, fp32) : differences(fp32, other);
}

bool trains(const Lab& lab, const std::string& model, const std::string& name) {
  return largest(harm(lab, model, name)) <= (model == autoencoder ? 1.05 : 5.0);  // false for NaN
}

/// True when every seed of this curve ended in NaN.
bool destroyed(const Lab& lab, const std::string& model, const std::string& name) {
  return std::ranges::all_of(lab.results(model, name), [](double value) { return std::isnan(value); });
}

void experiment(Lab& lab) {
  for (const std::string& model : {classifier, residual, autoencoder}) {
    for (const std::uint64_t seed : lab.seeds()) {
      for (const Contender& contender : contenders()) lab.train(plan_for(lab, model, contender, seed));
    }
    std::string works;
    for (const Contender& c : contenders()) {
      if (c.name != "FP32" && trains(lab, model, c.name)) works += (works.empty() ? "" : " | ") + c.name;
    }
    lab.verdict(
        model, works.empty() ? "No FP16 recipe trains as FP32 does." : "Trains as FP32 does: " + works + ".");
  }
  const double unscaled = smallest(harm(lab, autoencoder, "FP16, S = 1"));
  lab.claim(trains(lab, autoencoder, "FP16, S = 1024"),
            "S = 1024 trains the autoencoder (MSE within 5 % of FP32)");
  lab.claim(destroyed(lab, residual, "FP16, S = 1024"), "S = 1024 destroys the residual net (NaN)");
  lab.claim(trains(lab, residual, "FP16, S = 1"), "S = 1 trains the residual net (within 5 points of FP32)");
  lab.claim(unscaled >= (lab.is_cut() ? 1.15 : 1.30),
            fmt::format("S = 1 fails on the autoencoder: {:.2f} times FP32's MSE or more", unscaled));
  for (const std::string& model : {classifier, residual, autoencoder}) {
    lab.claim(trains(lab, model, "FP16, dynamic S"), "one dynamic setting trains: " + model);
  }
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv,
                    {.name = "07_dynamic_scaling",
                     .title = "Dynamic loss scaling: which S is right?",
                     .question = "Three models under S = 1, S = 1024 and one dynamic setting"},
                    experiment);
}
