#include <fmt/format.h>
#include <lessons/08_islands/classifier.h>
#include <lessons/08_islands/questions.h>
#include <tinymp/nn/linear.h>
#include <tinymp/nn/norm.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace tinymp::lab {
namespace {

const std::string paper = "Dark ink on white paper: may layer norm sum 784 pixels in FP16?",
                  black = "White ink on black: may layer norm sum 784 pixels in FP16?";
constexpr Accumulation f16{.format = DType::f16};
const char *const fp32 = "FP32", *const wide = "FP16, FP32 sums", *const narrow = "FP16, FP16 sums";

/// Layer norm of the pixels, then 784-128-10.      (B,784) -> (B,10)
class LayerNormMlp : public nn::Model {
 public:
  LayerNormMlp(const Recipe& recipe, Rng& rng, Accumulation sums);
  Tensor operator()(const Tensor& images) const override;
  std::vector<nn::Parameter> parameters() const override;
  std::string name() const override { return "layer norm mlp 784-128-10"; }

 private:
  nn::LayerNorm norm_;
  nn::Linear hidden_, out_;
};

// Members are made in their order: so are their weights drawn.
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
  plan.optimizer = train::optimizer_of<Sgd>({.lr = 0.1f});
  plan.optimizer_name = "sgd lr=0.1";
  return plan;
}

/// Until it is NaN the loss of FP16 sums stays where it began, while that of FP32 sums falls.
void claim_silence(Lab& lab) {
  double lowest = std::numeric_limits<double>::infinity();
  for (const double loss : lab.logged(black, narrow, &train::LogRecord::loss))
    lowest = std::min(lowest, loss);
  lab.claim(lowest >= 2.1,
            fmt::format("... until then its loss is {} or above (2.1 asked)", fixed(lowest, 2)),
            Lab::Judged::in_smoke_too);
}

}  // namespace

void ask_about_layer_norm(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const std::string& question : {paper, black}) {
      for (const Variant& variant : variants(lab)) lab.train(plan_for(lab, question, variant, seed));
    }
  }
  for (const std::string& question : {paper, black}) lab.verdict_on_nan(question, {fp32, wide, narrow});
  lab.say_findings("White paper, FP16 sums", *lab.runs(paper, narrow).front());
  lab.say_findings("Black, FP16 sums", *lab.runs(black, narrow).front());
  lab.claim_nan(paper, narrow, "layer norm, white paper, FP16 sums");
  claim_trains(lab, paper, wide, fp32);
  lab.claim_nan(black, narrow, "layer norm, black, FP16 sums", Lab::Judged::in_full);
  if (!lab.is_cut()) claim_silence(lab);  // clothes are bright: there the mean is infinite at once, too
  claim_trains(lab, black, wide, fp32);
}

}  // namespace tinymp::lab
