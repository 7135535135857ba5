#include <fmt/format.h>
#include <lessons/00_why/bytes.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/tensor/storage.h>

namespace tinymp::lab {
namespace {

/// The pool hands out blocks of 2^k and 3 x 2^k bytes. 62 x 49 lies just below such a number, and every layer
/// of ResNet-20 is a power of two times 49 pixels: its blocks fit within 2 %.
constexpr std::int64_t batch_size = 62;

double bytes_of(const Tensor& x) {
  return static_cast<double>(x.size()) * static_cast<double>(size_of(x.dtype()));
}

/// Runs one step and counts its bytes between forward and backward. `kept`: values an image that backward
/// needs.
Bytes measured(Lab& lab, const nn::Model& model, const Recipe& recipe, std::int64_t kept) {
  Adam optimizer(tensors(model.parameters()), {}, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, batch_size, lab.options().first_seed);
  const data::Batch batch = loader.next();

  Bytes found;
  const std::size_t before = pool_statistics().bytes_in_use;
  Tape tape;
  const Tensor loss = scaler.scale(cross_entropy(model(batch.images), batch.labels));
  found.pool = static_cast<double>(pool_statistics().bytes_in_use - before);
  tape.backward(loss);
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  optimizer.step(gradients, check);
  scaler.update(std::move(check));

  const bool narrow = recipe.compute != DType::f32;  // then the images are copied once more
  const auto values = static_cast<double>(batch_size * (kept + (narrow ? lab.data().train.shape.size() : 0)));
  found.activations = values * static_cast<double>(size_of(recipe.compute));
  found.parameters = static_cast<double>(optimizer.weights().size());
  found.weights = bytes_of(optimizer.weights());
  const bool has_master = optimizer.master().id() != optimizer.weights().id();
  found.master = has_master ? bytes_of(optimizer.master()) : 0;
  found.gradients = bytes_of(gradients.tensor());
  for (const Tensor& moment : optimizer.moments()) found.moments += bytes_of(moment);
  return found;
}

}  // namespace

Bytes bytes_of_resnet(Lab& lab, const Recipe& recipe) {
  Rng rng(lab.options().first_seed);
  const nn::ResNet model(3, {}, recipe, rng);
  // Values of a layer in each of the three stages. A block is convolution, norm and relu, convolution and
  // norm, sum and relu; a stage that changes its shape subsamples once.
  constexpr std::int64_t first = 28 * 28 * 16, second = 14 * 14 * 32, third = 7 * 7 * 64;
  constexpr std::int64_t block = 7, blocks = 3;
  return measured(lab, model, recipe,
                  (3 + blocks * block) * first + (1 + blocks * block) * (second + third) + 64 + 10);
}

Bytes bytes_of_mlp(Lab& lab, const Recipe& recipe) {
  Rng rng(lab.options().first_seed);
  const nn::Mlp model({784, 128, 10}, recipe, rng);
  return measured(lab, model, recipe, 128 + 10);
}

void show_bytes(Lab& lab, const char* model, const Bytes& f32, const Bytes& mixed) {
  lab.say(fmt::format("\n{}: {} parameters, Adam, {} images", model, f32.parameters, batch_size));
  lab.say("million bytes                      FP32     mixed");
  const auto row = [&](const char* what, double Bytes::*part) {
    lab.say(fmt::format("{:<28} {:>10.3f} {:>9.3f}", what, 1e-6 * f32.*part, 1e-6 * mixed.*part));
  };
  row("weights", &Bytes::weights);
  row("master weights", &Bytes::master);
  row("gradients", &Bytes::gradients);
  row("Adam's two moments", &Bytes::moments);
  lab.say(fmt::format("{:<28} {:>10} {:>9}", "  bytes a parameter", f32.state() / f32.parameters,
                      mixed.state() / mixed.parameters));
  row("activations, counted", &Bytes::activations);
  row("activations, measured", &Bytes::pool);
}

}  // namespace tinymp::lab
