#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>

// A residual net without norms: each block adds to its input, so activations grow with the depth, and while it learns.
namespace tinymp::lab {
namespace {

const std::string none = "E4M3/E5M2, no scales", delayed = "delayed scales", current = "current scales";
constexpr std::int64_t width = 64;
constexpr int blocks = 12;

Recipe with_scales(TensorScaling scaling, AmaxAlgorithm amax = AmaxAlgorithm::max) {
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.scaling = scaling;
  recipe.eight_bits.amax = amax;
  return recipe;
}

std::vector<Contender> contenders() {
  return {{in_fp32, recipes::fp32},
          {none, with_scales(TensorScaling::none)},
          {delayed, with_scales(TensorScaling::delayed)},
          {current, with_scales(TensorScaling::current)}};
}

constexpr int outlier_step = 20, steps_looked_at = 24;

/// What the scales of a step make of the largest activation, as a multiple of the largest E4M3 number. Above 1 it
/// saturates.
struct Reached {
  double images = 0;  ///< in the first layer
  double any = 0;     ///< in the layer where it is largest
};

Reached reached(const std::vector<Float8Products::Scale>& before,
                const std::vector<Float8Products::Scale>& after) {
  Reached found;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (after[i].role != "activations") continue;
    const double times = static_cast<double>(after[i].amax) * static_cast<double>(before[i].scale) / 448;
    if (after[i].layer == "in") found.images = times;
    found.any = std::max(found.any, times);
  }
  return found;
}

/// For each step of a short training. The images of one batch are 16 times as bright.
std::vector<Reached> reached_by(Lab& lab, AmaxAlgorithm amax) {
  const Recipe recipe = with_scales(TensorScaling::delayed, amax);
  const std::uint64_t seed = lab.options().first_seed;
  Rng rng = Rng(seed).split(0);
  const nn::ResidualMlp model(width, blocks, recipe, rng);
  Adam optimizer(nn::tensors(model.parameters()), {.lr = 1e-3f}, recipe);
  LossScaler scaler(recipe.scaling);
  const Float8Products products(model, recipe, seed);
  data::Loader loader(lab.data().train, 64, seed);
  std::vector<Reached> found;
  for (int step = 1; step <= steps_looked_at; ++step) {
    const data::Batch batch = loader.next();
    if (step == outlier_step) kernels::scale(batch.images.view(), 16, batch.images.view());
    const std::vector<Float8Products::Scale> before = products.scales();
    products.begin_step();
    {
      const Float8Products::Region region(products);
      Tape tape;
      tape.backward(scaler.scale(cross_entropy(model(batch.images), batch.labels)));
    }
    products.end_step();
    found.push_back(reached(before, products.scales()));
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  return found;
}

void show_outlier(Lab& lab) {
  const std::vector<Reached> history = reached_by(lab, AmaxAlgorithm::max),
                             newest = reached_by(lab, AmaxAlgorithm::most_recent);
  lab.say("\nThe largest activation x its delayed scale, as a multiple of 448");
  lab.say(fmt::format("  (above 1 it saturates; batch {} is 16 times as bright)", outlier_step));
  lab.say("           largest of the history        newest amax alone");
  lab.say("  step      images     any layer       images     any layer");
  for (const int step : {1, 2, 3, outlier_step - 1, outlier_step, outlier_step + 1, outlier_step + 2}) {
    const auto at = static_cast<std::size_t>(step - 1);
    lab.say(fmt::format("  {:>4} {:>11} {:>13} {:>12} {:>13}", step, fixed(history[at].images, 3),
                        fixed(history[at].any, 3), fixed(newest[at].images, 3), fixed(newest[at].any, 3)));
  }
  const auto at = static_cast<std::size_t>(outlier_step - 1);
  const double reached = history[at].images, after = history[at + 2].images, soon = newest[at + 2].images;
  lab.claim(reached > 10 && after < 0.1 && soon > 0.9,
            fmt::format("delayed scales: an outlier reaches {} times 448; two steps later the images reach {} "
                        "of it, and {} where the newest amax counts alone",
                        fixed(reached, 1), fixed(after, 2), fixed(soon, 2)),
            Lab::Judged::in_smoke_too);
}

}  // namespace

void ask_growing(Lab& lab) {
  show_outlier(lab);
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : contenders()) {
      lab.train({.question = growing,
                 .name = contender.name,
                 .recipe = contender.recipe,
                 .seed = seed,
                 .model = [](const Recipe& recipe,
                             Rng& rng) { return std::make_unique<nn::ResidualMlp>(width, blocks, recipe, rng); },
                 .optimizer = train::optimizer_of<Adam>({.lr = 1e-3f}),
                 .optimizer_name = "adam lr=0.001",
                 .steps = lab.steps(250, 5),
                 .batch = 64});
    }
  }
  const std::vector<double> fp32 = lab.results(growing, in_fp32);
  const auto below = [&](const std::string& name) { return differences(fp32, lab.results(growing, name)); };
  lab.verdict(growing, fmt::format("Without scales it ends {} points below FP32 on average, with delayed ones "
                                   "{}, with current ones {}.",
                                   fixed(mean(below(none)), 1), fixed(mean(below(delayed)), 1),
                                   fixed(mean(below(current)), 1)));
  for (const std::string& name : {delayed, current})
    lab.claim(mean(below(name)) <= 5, fmt::format("{}: on average {} points below FP32 (5 allowed)", name,
                                                  fixed(mean(below(name)), 1)));
}

}  // namespace tinymp::lab
