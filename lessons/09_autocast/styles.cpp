#include <fmt/format.h>
#include <lessons/09_autocast/questions.h>
#include <tinymp/amp/by_hand.h>
#include <tinymp/amp/mixed_optimizer.h>
#include <tinymp/data/loader.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/ops/ops.h>
#include <tinymp/optim/optimizers.h>
#include <bit>

namespace tinymp::lab {
namespace {

constexpr float S = 1024;
constexpr int steps = 100;
constexpr Sgd::Options sgd_options{.lr = 0.1f, .momentum = 0.9f};

struct Trained {
  std::vector<float> losses{}, masters{};
};

/// FP32 weights, drawn; or rounded to FP16 and widened again, as layers that are cast by hand begin.
nn::Mlp make_model(std::uint64_t seed, bool rounded = true) {
  Rng rng(seed);
  nn::Mlp model({784, 64, 10}, {}, rng);
  if (rounded) cast_layers(model, DType::f16);
  cast_layers(model, DType::f32);
  return model;
}

Trained by_hand(std::uint64_t seed, data::Loader loader) {
  const nn::Mlp net = make_model(seed);
  cast_layers(net, DType::f16);
  Sgd sgd(tensors(net.parameters()), sgd_options, recipes::fp16_master);
  RescaledGrad trainer(sgd, 1 / S);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const data::Batch batch = loader.next();
    Tape tape;
    const Tensor loss = cross_entropy(net(cast(batch.images, DType::f16)), batch.labels);
    tape.backward(scale(loss, S));
    trainer.step();
    trained.losses.push_back(static_cast<float>(loss.item()));
  }
  trained.masters = sgd.master().to_floats();
  return trained;
}

Trained autocast_and_scaler(std::uint64_t seed, data::Loader loader, bool rounded = true) {
  const nn::Mlp model = make_model(seed, rounded);
  Sgd sgd(tensors(model.parameters()), sgd_options);
  LossScaler scaler(DynamicScaling{.initial = S});
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const data::Batch batch = loader.next();
    Tape tape;
    const Tensor loss = [&] {
      const Autocast region(DType::f16);
      return cross_entropy(model(batch.images), batch.labels);
    }();
    tape.backward(scaler.scale(loss));
    Gradients gradients = sgd.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    sgd.step(gradients, check);
    scaler.update(std::move(check));
    sgd.zero_grad();
    trained.losses.push_back(static_cast<float>(loss.item()));
  }
  trained.masters = sgd.master().to_floats();
  return trained;
}

Trained wrapped_optimizer(std::uint64_t seed, data::Loader loader) {
  const nn::Mlp model = make_model(seed);
  Sgd sgd(tensors(model.parameters()), sgd_options);
  MixedOptimizer optimizer(sgd, DynamicScaling{.initial = S});
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const data::Batch batch = loader.next();
    const auto done = optimizer.minimize([&] { return cross_entropy(model(batch.images), batch.labels); });
    trained.losses.push_back(static_cast<float>(done.loss.item()));
  }
  trained.masters = sgd.master().to_floats();
  return trained;
}

/// How many have other bits.
std::int64_t differing(const std::vector<float>& a, const std::vector<float>& b) {
  std::int64_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    count += std::bit_cast<std::uint32_t>(a[i]) != std::bit_cast<std::uint32_t>(b[i]);
  return count;
}

}  // namespace

void compare_styles(Lab& lab) {
  std::int64_t different = 0, not_rounded = 0;
  for (const std::uint64_t seed : lab.seeds()) {
    const data::Loader loader(lab.data().train, 64, seed);
    const Trained hand = by_hand(seed, loader);
    const bool shown = seed == lab.seeds().front();
    if (shown)
      lab.say(fmt::format("\nAfter {} steps, S = {:<18}    last loss    losses, weights with other bits",
                          steps, S));
    const auto compare = [&](const char* name, const Trained& trained) {
      const std::int64_t losses = differing(trained.losses, hand.losses),
                         weights = differing(trained.masters, hand.masters);
      if (shown)
        lab.say(fmt::format("  {:<38} {:.6f} {:>10} {:>8}", name, trained.losses.back(), losses, weights));
      return losses + weights;
    };
    different += compare("layers cast by hand", hand);
    different += compare("autocast and a scaler", autocast_and_scaler(seed, loader));
    different += compare("a wrapped optimizer", wrapped_optimizer(seed, loader));
    const std::int64_t drawn =
        compare("autocast, first weights not rounded", autocast_and_scaler(seed, loader, false));
    not_rounded += drawn > 0;
  }
  lab.claim(
      different == 0,
      fmt::format("three programs, {} steps: the same bits in all losses and weights of each seed", steps),
      Lab::Judged::in_smoke_too);
  lab.claim(not_rounded == std::ssize(lab.seeds()), "... but not from first weights that FP16 does not hold",
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
