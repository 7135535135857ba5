#include <fmt/format.h>
#include <lessons/03_accumulation/questions.h>
#include <lessons/03_accumulation/trainings.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/data/loader.h>
#include <tinymp/nn/layers.h>
#include <tinymp/nn/norm.h>
#include <algorithm>
#include <cmath>

// The weights and the batches are those of train::run, so this is the run that the curves show.
namespace tinymp::lab {
namespace {

constexpr Recipe recipe = recipes::fp16_static;
constexpr Accumulation f16{.format = DType::f16};

Rng weights_of(const Lab& lab) { return Rng(lab.options().first_seed).split(0); }
std::uint64_t order_of(const Lab& lab) { return Rng(lab.options().first_seed).split(1).seed(); }

/// Over all columns: the mean of |mean|, and of the deviation.
struct Average {
  double mean = 0, deviation = 0;
};
Average average(const BatchStatistics& of) {
  Average sum;
  for (const double mean : of.mean.to_doubles()) sum.mean += std::fabs(mean);
  for (const double variance : of.variance.to_doubles()) sum.deviation += std::sqrt(variance);
  const auto columns = static_cast<double>(of.mean.size());
  return {sum.mean / columns, sum.deviation / columns};
}

/// The push of backward on a whole column, on average: the sum of its gradients, which is the gradient of its
/// bias.
double push(const Tensor& bias_gradient, const LossScaler& scaler) {
  double sum = 0;
  for (const double gradient : bias_gradient.to_doubles()) sum += std::fabs(gradient);
  return sum / static_cast<double>(bias_gradient.size()) / static_cast<double>(scaler.factor());
}

/// The error of a column's mean, against float64, in deviations, in the worst column.
double furthest(const Tensor& hidden, const BatchStatistics& found) {
  const std::vector<double> values = hidden.to_doubles(), means = found.mean.to_doubles();
  const auto rows = static_cast<double>(hidden.shape()[0]);
  double worst = 0;
  for (std::size_t column = 0; column < means.size(); ++column) {
    double sum = 0, squares = 0;
    for (std::size_t i = column; i < values.size(); i += means.size()) {
      sum += values[i];
      squares += values[i] * values[i];
    }
    const double mean = sum / rows, deviation = std::sqrt(squares / rows - mean * mean);
    worst = std::max(worst, std::fabs(means[column] - mean) / deviation);
  }
  return worst;
}

}  // namespace

double show_first_batch(Lab& lab, const Accumulation& sums) {
  lab.say("\nBefore training, on average over the columns");
  lab.say(fmt::format("{:<26}{:>8} {:>11} {:>15} {:>18}", "", "|mean|", "deviation", "|mean|, FP16",
                      "deviation, FP16"));
  BatchStatistics exact, narrow, asked;
  const auto row = [&](const char* what, const Tensor& x) {
    const nn::BatchNorm norm(x.shape().cols(), recipe);
    batch_norm(x, norm.gamma, norm.beta, {}, &exact);
    batch_norm(x, norm.gamma, norm.beta, {.sums = f16}, &narrow);
    batch_norm(x, norm.gamma, norm.beta, {.sums = sums}, &asked);
    const Average of_f32 = average(exact), of_f16 = average(narrow);
    lab.say(fmt::format("{:<26}{:>8.3f} {:>11.3f} {:>15.3f} {:>18.3f}", what, of_f32.mean, of_f32.deviation,
                        of_f16.mean, of_f16.deviation));
  };
  const auto images = [&](std::int64_t count, bool on_paper) {
    data::Loader loader(lab.data().train, count, order_of(lab), {.invert = on_paper});
    return cast(loader.next().images, recipe.compute);
  };
  const auto hidden = [&](bool on_paper) {
    Rng rng = weights_of(lab);
    return nn::Linear(784, 128, recipe, rng)(images(whole_batch(lab), on_paper));
  };
  Rng rng = weights_of(lab);
  const nn::Conv2d first({.inputs = 1, .outputs = 8, .size = 3, .padding = 1, .bias = false}, recipe, rng);
  row("CNN, white ink on black", first(reshape(images(128, false), {128, 28, 28, 1})));
  row("MLP, white ink on black", hidden(false));
  const Tensor paper_batch = hidden(true);
  row("MLP, dark ink on white", paper_batch);
  return furthest(paper_batch, asked);
}

void show_first_steps(Lab& lab) {
  const std::int64_t batch_size = large_batch(lab);
  Rng rng = weights_of(lab);
  const nn::Linear in(784, 128, recipe, rng), out(128, 10, recipe, rng);
  const nn::BatchNorm norm(128, recipe);
  Sgd optimizer({in.weight, in.bias, out.weight, out.bias, norm.gamma, norm.beta}, sgd_options, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, batch_size, order_of(lab), {.invert = true});

  lab.say(fmt::format("\nFP16 sums over {} rows: of the 128 hidden columns the one with the largest mean",
                      batch_size));
  lab.say("   step      loss   its mean    as summed in FP16    times the rows        push");
  for (int step = 1; step <= lab.steps(12, 3); ++step) {
    const data::Batch batch = loader.next();
    Tape tape;
    BatchStatistics narrow, exact;
    const Tensor hidden = in(cast(batch.images, recipe.compute));
    batch_norm(hidden, norm.gamma, norm.beta, {}, &exact);  // FP32, to compare with; no loss depends on it
    const Tensor y = batch_norm(hidden, norm.gamma, norm.beta, {.sums = f16}, &narrow);
    const Tensor loss = cross_entropy(out(relu(y)), batch.labels);

    const std::vector<double> means = exact.mean.to_doubles(), summed = narrow.mean.to_doubles();
    std::size_t at = 0;
    for (std::size_t o = 0; o < means.size(); ++o) at = std::fabs(means[o]) > std::fabs(means[at]) ? o : at;
    tape.backward(scaler.scale(loss));
    lab.say(fmt::format("{:>7} {:>9.3f} {:>10.3f} {:>20.3f} {:>16.0f} {:>11.2g}", step, loss.item(),
                        means[at], summed[at], means[at] * static_cast<double>(batch_size),
                        push(in.bias.grad(), scaler)));
    if (!std::isfinite(loss.item())) break;
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
}

}  // namespace tinymp::lab
