// Lesson 07 - Dynamic loss scaling: which S is right?
//
// Three models are trained with S = 1, with S = 1024 (a popular choice) and with a dynamic S. If a gradient
// overflows, a dynamic S is halved and the step is skipped. After 100 good steps in a row a dynamic S is doubled.
// Expected: S = 1024 trains the autoencoder and destroys a residual net without normalisation within a few steps.
// S = 1 trains the residual net and fails on the autoencoder. One dynamic setting trains all three models. A common S
// may exist, but it is not known beforehand.

#include <fmt/format.h>
#include <lessons/07_dynamic_scaling/models.h>
#include <lessons/07_dynamic_scaling/trace.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

/// Returns one number for each seed: how many points of accuracy the run ends below FP32, or for the autoencoder how
/// many times FP32's MSE it has. The number is NaN if the run ended in NaN.
std::vector<double> harm(const Lab& lab, const Model& model, const std::string& name) {
  const std::vector<double> fp32 = lab.results(model.name, "FP32"), other = lab.results(model.name, name);
  return &model == &autoencoder ? ratios(other, fp32) : differences(fp32, other);
}

bool trains(const Lab& lab, const Model& model, const std::string& name) {
  return largest(harm(lab, model, name)) <= model.allowed;  // false for NaN
}

std::string verdict_on(const Lab& lab, const Model& model) {
  std::string works;
  for (const Contender& c : contenders(lab, model)) {
    if (c.name != "FP32" && trains(lab, model, c.name)) works += (works.empty() ? "" : " | ") + c.name;
  }
  if (works.empty())
    return fmt::format("Every FP16 recipe ends more than {} worse than FP32.", model.allowed_text);
  return fmt::format("These train as FP32 does, at most {} worse: {}.", model.allowed_text, works);
}

void experiment(Lab& lab) {
  for (const Model* model : {&classifier, &residual, &autoencoder}) {
    for (const std::uint64_t seed : lab.seeds()) {
      for (const Contender& contender : contenders(lab, *model))
        lab.train(plan_for(lab, *model, contender, seed));
    }
    lab.verdict(model->name, verdict_on(lab, *model));
  }
  print_trace(lab, *lab.runs(residual.name, "FP16, dynamic S").front());
  claim_steps(lab);
  const double unscaled = smallest(harm(lab, autoencoder, "FP16, S = 1"));
  lab.claim(trains(lab, autoencoder, "FP16, S = 1024"),
            "S = 1024 trains the autoencoder (at most 5 % worse than FP32)");
  lab.claim(lab.ends_in_nan(residual.name, "FP16, S = 1024"), "S = 1024 destroys the residual net (NaN)");
  lab.claim(trains(lab, residual, "FP16, S = 1"),
            "S = 1 trains the residual net (at most 5 points worse than FP32)");
  lab.claim(unscaled >= (lab.is_cut() ? 1.15 : 1.30),
            fmt::format("S = 1 fails on the autoencoder: {} times FP32's MSE or more", fixed(unscaled, 2)));
  for (const Model* model : {&classifier, &residual, &autoencoder}) {
    lab.claim(trains(lab, *model, "FP16, dynamic S"),
              fmt::format("one dynamic setting trains: {} (at most {} worse than FP32)", model->name,
                          model->allowed_text));
  }
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "07_dynamic_scaling", experiment); }
