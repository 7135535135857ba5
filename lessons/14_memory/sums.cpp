#include <fmt/format.h>
#include <kernels/step.h>
#include <lessons/14_memory/questions.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/step.h>
#include <algorithm>
#include <cmath>
#include <numeric>

// Gradients of several small batches as the gradient of one large batch.
namespace tinymp::lab {
namespace {

using Gradient = std::vector<std::vector<double>>;  ///< of each parameter

/// The weight of a part of a batch in the sum of gradients, where its loss is a mean over the part.
double weight_of(std::int64_t part, const std::vector<std::int64_t>& parts, bool mean_of_means) {
  if (mean_of_means) return 1.0 / static_cast<double>(parts.size());
  return static_cast<double>(part) /
         static_cast<double>(std::accumulate(parts.begin(), parts.end(), std::int64_t{0}));
}

/// dloss/dw of the line y = w x, where the loss is the mean of y: the mean of x. Part by part.
double slope_of_line(const std::vector<float>& x, const std::vector<std::int64_t>& parts,
                     bool mean_of_means) {
  const Tensor w = Tensor::from({1, 1}, std::vector<float>{1}).set_requires_grad(true);
  std::int64_t begin = 0;
  for (const std::int64_t part : parts) {
    const std::vector<float> some(x.begin() + begin, x.begin() + begin + part);
    Tape tape;
    const Tensor loss = mean(matmul(Tensor::from({part, 1}, some), w));
    tape.backward(scale(loss, static_cast<float>(weight_of(part, parts, mean_of_means))));
    begin += part;
  }
  return w.grad().item();
}

Gradient gradient_of_parts(const nn::Model& model, const data::Batch& batch,
                           const std::vector<std::int64_t>& parts, bool mean_of_means) {
  const std::int64_t pixels = batch.images.shape()[1];
  std::int64_t begin = 0;
  for (const std::int64_t part : parts) {
    const std::span<const std::int32_t> labels(batch.labels);
    Tape tape;
    const Tensor images = batch.images.slice(begin * pixels, {part, pixels});
    const Tensor loss = cross_entropy(
        model(images), labels.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(part)));
    tape.backward(scale(loss, static_cast<float>(weight_of(part, parts, mean_of_means))));
    begin += part;
  }
  Gradient all;
  for (const nn::Parameter& p : model.parameters()) {
    all.push_back(p.value.grad().to_doubles());
    p.value.clear_grad();
  }
  return all;
}

/// The largest difference, as a multiple of the largest gradient of the same tensor.
double apart(const Gradient& whole, const Gradient& parts) {
  double most = 0;
  for (std::size_t p = 0; p < whole.size(); ++p) {
    double largest = 0, farthest = 0;
    for (std::size_t i = 0; i < whole[p].size(); ++i) {
      largest = std::max(largest, std::fabs(whole[p][i]));
      farthest = std::max(farthest, std::fabs(whole[p][i] - parts[p][i]));
    }
    if (largest > 0) most = std::max(most, farthest / largest);
  }
  return most;
}

void show_means(Lab& lab) {
  const std::vector<float> x{4, 4, 4, 16};
  const bool wrong = lab.sabotaged("mean");
  lab.say("\nThe gradients of four samples are 4, 4, 4 | 16. Their mean:");
  lab.say(fmt::format("  all at once                 {:>4.4g}", slope_of_line(x, {4}, wrong)));
  lab.say(fmt::format("  each part with its size     {:>4.4g}", slope_of_line(x, {3, 1}, wrong)));
  lab.say(fmt::format("  the mean of means           {:>4.4g}", slope_of_line(x, {3, 1}, true)));

  const data::Batch batch = data::Loader(lab.data().train, 256, lab.options().first_seed).next();
  Rng rng = Rng(lab.options().first_seed).split(0);
  const nn::Mlp model({batch.images.shape()[1], 64, 10}, recipes::fp32, rng);
  const std::vector<std::int64_t> unequal{80, 80, 80, 16};
  const Gradient whole = gradient_of_parts(model, batch, {256}, false);
  const double right = apart(whole, gradient_of_parts(model, batch, unequal, wrong)),
               means = apart(whole, gradient_of_parts(model, batch, unequal, true));
  lab.say("An MLP, 256 images in parts of 80, 80, 80, 16: off from one batch of 256");
  lab.say(fmt::format("  each part with its size  {:>7.2g} %", 100 * right));
  lab.say(fmt::format("  the mean of means        {:>7.2g} %", 100 * means));
  lab.claim(
      right <= 1e-6 && slope_of_line(x, {3, 1}, wrong) == 7,
      "unequal parts, each with its size: the gradient of the whole batch to 1e-6 of each tensor's largest",
      Lab::Judged::in_smoke_too);
}

/// What the optimizer gets in the first step of a plan.
struct FirstStep {
  explicit FirstStep(const train::Plan& plan) {
    const std::unique_ptr<nn::Model> model = train::make_model(plan, plan.recipe);
    const std::unique_ptr<Optimizer> optimizer = train::make_optimizer(plan, *model);
    LossScaler scaler(plan.recipe.scaling);
    const Float8Products products = train::make_products(plan, *model);
    const data::Loader loader = train::make_loader(plan);
    const train::StepRecords records(plan.device, kernels::StepRecords());
    const train::StepMeters meters{.updated = [&](const Gradients& gradients) {
      for (const Tensor& p : nn::tensors(model->parameters())) {
        gradient.push_back(p.grad().to_doubles());
        for (double& g : gradient.back()) g *= static_cast<double>(gradients.factor());
      }
    }};
    start_step(plan, 1, *model, *optimizer, scaler, products, meters, next_of(loader, plan), records);
    is_finite = records.read().at[0].found.nonfinite == 0;
  }
  Gradient gradient;
  bool is_finite = false;
};

train::Loss scaled_loss(float factor) {
  return [factor](const Tensor& y, std::span<const std::int32_t> labels) {
    return scale(cross_entropy(y, labels), factor);
  };
}

double apart_from_256(const Lab& lab, train::Plan plan) {
  plan.batch = 256;
  const FirstStep whole(plan);
  plan.batch = 8;
  plan.micro_batches = 32;
  if (lab.sabotaged("divide")) plan.loss = scaled_loss(32);  // a sum that nothing divides
  return apart(whole.gradient, FirstStep(plan).gradient);
}

train::Plan plan_of(Lab& lab, train::ModelMaker model) {
  train::Plan plan{.name = "first step",
                   .seed = lab.options().first_seed,
                   .model = std::move(model),
                   .optimizer = train::optimizer_of<Sgd>({.lr = 0.1f})};
  plan.data = &lab.data();
  return plan;
}

train::Plan decoder_plan(Lab& lab, const data::Text& text) {
  const nn::TransformerSizes sizes{
      .words = std::ssize(text.vocabulary), .context = 16, .layers = 2, .width = 32, .heads = 2};
  train::Plan plan = plan_of(lab, [sizes](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::Transformer>(nn::Transformer::Kind::decoder, sizes, recipe, rng);
  });
  plan.data = nullptr;
  plan.task = train::Task::name_tokens;
  plan.text = train::TextPlan{.text = &text, .context = sizes.context};
  return plan;
}

void show_8_x_32(Lab& lab, const data::Text* text) {
  lab.say("\nThe first gradient of 8 x 32 images or texts beside that of 256 at once: the");
  lab.say("largest difference, in multiples of the largest gradient of its tensor");
  double most = 0;
  const auto show = [&](const char* name, const train::Plan& plan) {
    const double found = apart_from_256(lab, plan);
    lab.say(fmt::format("  {:<24} {:>8.1e}", name, found));
    return found;
  };
  const auto residual = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::ResidualMlp>(64, 4, r, rng);
  };
  const auto lenet = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); };
  most = std::max(most, show("MLP 784-64-10", plan_of(lab, train::model_of<nn::Mlp>({784, 64, 10}))));
  most = std::max(most, show("LeNet", plan_of(lab, lenet)));
  most = std::max(most, show("residual net", plan_of(lab, residual)));
  const double decoder = text == nullptr ? 0 : show("decoder", decoder_plan(lab, *text)),
               norms = show("MLP with batch norm",
                            plan_of(lab, train::model_of<nn::BatchNormMlp>({784, 64, 10})));
  lab.number("8 x 32 beside 256, batch norm", norms);
  lab.claim(most <= 1e-6, "8 x 32 is 256 to 1e-6 of each tensor's largest gradient: MLP, LeNet, residual net",
            Lab::Judged::in_smoke_too);
  if (text != nullptr) lab.claim(decoder <= 1e-5, "... the decoder to 1e-5", Lab::Judged::in_smoke_too);
}

/// The largest power of two as S with which the sum of K gradients in FP16 is finite.
int largest_power(train::Plan plan) {
  for (int power = 30; power > 0; --power) {
    plan.recipe.scaling = StaticScaling{std::ldexp(1.0f, power)};
    if (FirstStep(plan).is_finite) return power;
  }
  return 0;
}

}  // namespace

void show_sums(Lab& lab, const data::Text* text) {
  show_means(lab);
  show_8_x_32(lab, text);
}

void show_overflow(Lab& lab) {
  lab.say("\nAn MLP in FP16, K micro-batches of 16: the largest S without an overflow");
  lab.say("     K   sums in FP16   ... of losses / K   sums in FP32");
  int undivided = 0, divided = 0;
  constexpr std::int64_t most = 64;
  for (const std::int64_t K : {std::int64_t{1}, std::int64_t{8}, most}) {
    train::Plan plan = plan_of(lab, train::model_of<nn::Mlp>({784, 64, 10}));
    plan.batch = 16;
    plan.micro_batches = K;
    plan.recipe = recipes::fp16_static;
    undivided = largest_power(plan);
    train::Plan of_means = plan, wide = plan;
    if (!lab.sabotaged("divide")) of_means.loss = scaled_loss(1 / static_cast<float>(K));
    divided = largest_power(of_means);
    wide.recipe.gradient = DType::f32;
    const auto power = [](int of) { return fmt::format("2^{}", of); };
    lab.say(fmt::format("  {:>4} {:>14} {:>19} {:>14}", K, power(undivided), power(divided),
                        power(largest_power(wide))));
  }
  lab.claim(
      divided - undivided == 6,
      fmt::format("{} gradients in FP16, undivided, overflow {} powers of two earlier than divided (6 asked)",
                  most, divided - undivided),
      Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
