#include <fmt/format.h>
#include <lessons/03_accumulation/trainings.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/sgd.h>
#include <cmath>

namespace tinymp::lab {
namespace {

const std::vector<std::int64_t> widths{784, 128, 10};
constexpr Sgd::Options sgd{.lr = 0.1f, .momentum = 0.9f};

/// The embedded cut holds 9,000 images to train on, of which fewer numbers are near 0: it wants a larger
/// batch.
std::int64_t large_batch(Lab& lab) {
  if (lab.options().smoke) return 256;
  return lab.is_cut() ? 8192 : 4096;
}

train::Plan plan_for(const std::string& question, const Curve& curve, std::uint64_t seed) {
  train::Plan plan;
  plan.question = question;
  plan.name = curve.name;
  plan.recipe = curve.recipe;
  plan.seed = seed;
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Sgd>(std::move(parameters), sgd, recipe);
  };
  plan.optimizer_name = "sgd lr=0.1 momentum=0.9";
  return plan;
}

}  // namespace

train::Plan batch_norm_plan(Lab& lab, const std::string& question, const Curve& curve, std::uint64_t seed) {
  train::Plan plan = plan_for(question, curve, seed);
  plan.model = [sums = curve.sums](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::BatchNormMlp>(widths, recipe, rng, sums);
  };
  plan.batch = large_batch(lab);
  plan.steps = lab.steps(60, 4);
  plan.log_every = 1;
  plan.pixels.invert = question == paper;
  return plan;
}

train::Plan matmul_plan(Lab& lab, const Curve& curve, std::uint64_t seed) {
  train::Plan plan = plan_for(matmuls, curve, seed);
  plan.model = [](const Recipe& recipe, Rng& rng) { return std::make_unique<nn::Mlp>(widths, recipe, rng); };
  plan.batch = 128;
  plan.steps = lab.steps(600, 4);
  return plan;
}

// The run "FP16 sums" of dark ink on white paper, seed 0, spelled out: the same weights, batches and steps.
void watch_batch_norm(Lab& lab) {
  const std::int64_t batch_size = large_batch(lab);
  const Recipe recipe = recipes::fp16_static;
  const std::uint64_t seed = lab.options().first_seed;
  Rng rng = Rng(seed).split(0);
  const nn::Linear in(784, 128, recipe, rng), out(128, 10, recipe, rng);
  const nn::BatchNorm norm(128, recipe);
  Sgd optimizer({in.weight, in.bias, out.weight, out.bias, norm.gamma, norm.beta}, sgd, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, batch_size, Rng(seed).split(1).seed(), {.invert = true});

  lab.say(fmt::format("\nFP16 sums over {} rows: of the 128 hidden columns the one with the largest mean",
                      batch_size));
  lab.say("   step      loss    its mean    as summed in FP16    sum that FP16 would need");
  for (int step = 1; step <= lab.steps(12, 3); ++step) {
    const data::Batch batch = loader.next();
    Tape tape;
    BatchStatistics narrow, exact;
    const Tensor hidden = in(cast(batch.images, recipe.compute));
    batch_norm(hidden, norm.gamma, norm.beta, {}, &exact);  // FP32, to compare with; no loss depends on it
    const Tensor y = batch_norm(hidden, norm.gamma, norm.beta, {.sums = {.format = DType::f16}}, &narrow);
    const Tensor loss = cross_entropy(out(relu(y)), batch.labels);

    const std::vector<double> means = exact.mean.to_doubles(), summed = narrow.mean.to_doubles();
    std::size_t at = 0;
    for (std::size_t o = 0; o < means.size(); ++o) at = std::fabs(means[o]) > std::fabs(means[at]) ? o : at;
    lab.say(fmt::format("{:>7} {:>9.3f} {:>11.3f} {:>20.3f} {:>26.0f}", step, loss.item(), means[at],
                        summed[at], means[at] * static_cast<double>(batch_size)));
    if (!std::isfinite(loss.item())) break;
    tape.backward(scaler.scale(loss));
    Gradients gradients = optimizer.gradients();
    GradCheck check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
}

}  // namespace tinymp::lab
