#include <fmt/format.h>
#include <lessons/08_islands/norms.h>
#include <tinymp/optim/sgd.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::lab {
namespace {

constexpr Accumulation f16{.format = DType::f16};
const char *const fp32 = "FP32", *const wide = "FP16, FP32 sums", *const narrow = "FP16, FP16 sums";

struct Variant {
  const char* name;
  Recipe recipe;
  Accumulation sums{};
};

/// Sabotage: the sums that are called FP32 are in FP16.
std::vector<Variant> variants(const Lab& lab) {
  return {{fp32, recipes::fp32},
          {wide, recipes::fp16_static, lab.sabotaged() ? f16 : Accumulation{}},
          {narrow, recipes::fp16_static, f16}};
}

train::Plan plan_for(const Lab& lab, const std::string& question, const Variant& variant,
                     std::uint64_t seed) {
  train::Plan plan = classifier_plan(lab, question, variant.name, variant.recipe, seed);
  plan.pixels = {.scale = data::PixelScale::raw, .invert = question == paper};
  plan.model = [sums = variant.sums](const Recipe& recipe, Rng& rng) {
    return std::make_unique<LayerNormMlp>(recipe, rng, sums);
  };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 0.1f}, recipe);
  };
  plan.optimizer_name = "sgd lr=0.1";
  return plan;
}

/// Until it is NaN the loss of FP16 sums stays where it began, while that of FP32 sums falls.
void claim_silence(Lab& lab) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const train::Run* run : lab.runs(black, narrow)) {
    for (const train::LogRecord& step : run->steps) {
      if (std::isfinite(step.loss)) lowest = std::min(lowest, step.loss);
    }
  }
  lab.claim(lowest >= 2.1,
            fmt::format("... until then its loss is {} or above (2.1 asked)", fixed(lowest, 2)),
            Lab::Judged::in_smoke_too);
}

}  // namespace

// Members are made in the order of the header: so are their weights drawn.
LayerNormMlp::LayerNormMlp(const Recipe& recipe, Rng& rng, Accumulation sums)
    : norm_(784, recipe, {.sums = sums}), hidden_(784, 128, recipe, rng), out_(128, 10, recipe, rng) {}

Tensor LayerNormMlp::operator()(const Tensor& images) const {
  const Tensor pixels = norm_(cast(images, out_.weight.dtype()));
  return out_(hidden_(pixels, Activation::relu));
}

std::vector<nn::Parameter> LayerNormMlp::parameters() const {
  std::vector<nn::Parameter> list = norm_.parameters("norm");
  append(list, {hidden_.parameters("hidden"), out_.parameters("out")});
  return list;
}

void ask_about_layer_norm(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const std::string& question : {paper, black}) {
      for (const Variant& variant : variants(lab)) lab.train(plan_for(lab, question, variant, seed));
    }
  }
  for (const std::string& question : {paper, black}) give_verdict(lab, question, {fp32, wide, narrow});
  tell_findings(lab, paper, narrow, "White paper, FP16 sums");
  tell_findings(lab, black, narrow, "Black, FP16 sums");
  claim_nan(lab, paper, narrow, "layer norm, white paper, FP16 sums");
  claim_trains(lab, paper, wide, fp32);
  claim_nan(lab, black, narrow, "layer norm, black, FP16 sums", Lab::Judged::in_full);
  if (!lab.is_cut()) claim_silence(lab);  // clothes are bright: there the mean is infinite at once, too
  claim_trains(lab, black, wide, fp32);
}

}  // namespace tinymp::lab
