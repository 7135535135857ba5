#include <fmt/format.h>
#include <lessons/10_convnet/questions.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/tensor/storage.h>
#include <algorithm>
#include <chrono>
#include <limits>

namespace tinymp::lab {
namespace {

constexpr std::int64_t batch_size = 128;

struct Cost {
  double weights = 0, master = 0, gradients = 0, momentum = 0;  ///< bytes of the optimizer's arenas
  double activations = 0;  ///< what forward left behind for backward, as the pool of memory has it
  double seconds = std::numeric_limits<double>::infinity();  ///< of the fastest step: others may be disturbed
  double bytes() const { return weights + master + gradients + momentum + activations; }
};

double bytes_of(const Tensor& x) {
  return static_cast<double>(x.size()) * static_cast<double>(size_of(x.dtype()));
}

/// Takes some steps, looks at what is there in the middle of each, and at the clock.
Cost measured(Lab& lab, const nn::Model& model, const Recipe& recipe) {
  Sgd optimizer(tensors(model.parameters()), {.momentum = 0.9f}, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, batch_size, lab.options().first_seed);
  Cost found;
  for (std::int64_t i = 0; i < lab.steps(10, 2); ++i) {
    const data::Batch batch = loader.next();
    const auto start = std::chrono::steady_clock::now();
    const std::size_t before = pool_statistics().bytes_in_use;
    Tape tape;
    const Tensor loss = scaler.scale(cross_entropy(model(batch.images), batch.labels));
    found.activations = static_cast<double>(pool_statistics().bytes_in_use - before);
    tape.backward(loss);
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    found.seconds = std::min(found.seconds, passed.count());
    found.gradients = bytes_of(gradients.tensor());
    optimizer.zero_grad();
  }
  found.weights = bytes_of(optimizer.weights());
  const bool has_master = optimizer.master().id() != optimizer.weights().id();
  found.master = has_master ? bytes_of(optimizer.master()) : 0;
  for (const Tensor& moment : optimizer.moments()) found.momentum += bytes_of(moment);
  return found;
}

Cost of_resnet(Lab& lab, const Recipe& recipe) {
  Rng rng(lab.options().first_seed);
  const data::ImageShape shape = lab.data().train.shape;
  const nn::ResNet model(3, {.size = shape.rows, .channels = shape.channels}, recipe, rng);
  return measured(lab, model, recipe);
}

Cost of_mlp(Lab& lab, const Recipe& recipe) {
  Rng rng(lab.options().first_seed);
  const nn::Mlp model({lab.data().train.shape.size(), 128, 10}, recipe, rng);
  return measured(lab, model, recipe);
}

void show(Lab& lab, const char* model, const Cost& wide, const Cost& narrow) {
  lab.say(fmt::format("\n{:<26}       FP32     mixed", model));
  const auto row = [&](const char* what, double first, double second) {
    lab.say(fmt::format("{:<26} {:>10.3f} {:>9.3f}", what, 1e-6 * first, 1e-6 * second));
  };
  row("  weights", wide.weights, narrow.weights);
  row("  master weights", wide.master, narrow.master);
  row("  gradients", wide.gradients, narrow.gradients);
  row("  momentum", wide.momentum, narrow.momentum);
  row("  activations", wide.activations, narrow.activations);
  row("  together", wide.bytes(), narrow.bytes());
  const double share = 100 * narrow.bytes() / wide.bytes();
  lab.say(fmt::format("  of FP32's bytes (%) {:>16} {:>9.1f}", 100, share));
  lab.say(fmt::format("  milliseconds here {:>19.0f} {:>9.0f}", 1e3 * wide.seconds, 1e3 * narrow.seconds));
  lab.number(fmt::format("{}: times FP32's milliseconds", model), narrow.seconds / wide.seconds);
  lab.number(fmt::format("{}: mixed of FP32's bytes (%)", model), share);
}

}  // namespace

void show_cost(Lab& lab) {
  lab.say(fmt::format("\nA step of {} images, in million bytes", batch_size));
  const Cost wide = of_resnet(lab, recipes::fp32), narrow = of_resnet(lab, recipes::fp16_dynamic);
  show(lab, "ResNet-20", wide, narrow);
  show(lab, "MLP", of_mlp(lab, recipes::fp32), of_mlp(lab, recipes::fp16_dynamic));
  const double share = 100 * narrow.activations / wide.activations;
  lab.number("activations: mixed of FP32's bytes (%)", share);
  lab.claim(
      share > 49 && share < 55,
      fmt::format("ResNet-20's activations take {} % of FP32's bytes (49 to 55 asked)", fixed(share, 1)),
      Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
