#include <tests/catch.h>
#include <tests/optim/rig.h>
#include <tinymp/amp/by_hand.h>
#include <tinymp/amp/mixed_optimizer.h>
#include <tinymp/base/rng.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/ops/ops.h>

/// The three programs of the literature train the same model to the same bits, when
///   - the first weights are such as FP16 holds: layers that are cast by hand have lost the rest before their
///     masters were made, the FP32 weights of the other two have not;
///   - S is the same power of two in all three, so that rescale_grad = 1 / S is exact, and constant;
///   - no gradient overflows (by hand the step would be taken all the same);
///   - the gradients of a norm's FP32 gamma and beta are kept in FP32: recipe.gradient, by hand.
/// Then all three compute FP16 gradients of FP16 copies of FP32 masters, and update these in FP32.
namespace tinymp::test {
namespace {

constexpr float S = 1024;
constexpr std::int64_t batch = 16, pixels = 20, classes = 5, steps = 100;

struct Batch {
  Tensor images;
  std::vector<std::int32_t> labels;
};
Batch batch_of(int step) {
  Rng rng(static_cast<std::uint64_t>(step));
  Batch made;
  std::vector<float> values(batch * pixels);
  for (float& v : values) v = rng.uniform(0, 1);
  made.images = Tensor::from({batch, pixels}, values);
  for (int i = 0; i < batch; ++i) made.labels.push_back(static_cast<std::int32_t>(rng.below(classes)));
  return made;
}

using Bytes = std::vector<std::byte>;
struct Trained {
  std::vector<Bytes> losses;
  Bytes masters;
  bool operator==(const Trained&) const = default;
};

constexpr Sgd::Options sgd_options{.lr = 0.2f, .momentum = 0.9f, .weight_decay = 1e-3f};

template <class Model>
Trained by_hand(const Recipe& recipe) {
  Rng rng(7);
  const Model net({pixels, 24, 24, classes}, {}, rng);
  cast_layers(net, DType::f16);
  Sgd sgd(tensors(net.parameters()), sgd_options, recipe);
  RescaledGrad trainer(sgd, 1 / S);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const Batch now = batch_of(step);
    Tape tape;
    const Tensor loss = cross_entropy(net(cast(now.images, DType::f16)), now.labels);
    tape.backward(scale(loss, S));
    CHECK(trainer.step().read().taken);
    trained.losses.push_back(bytes_of(loss));
  }
  trained.masters = bytes_of(sgd.master());
  return trained;
}

/// First weights that FP16 holds, or those that were drawn.
template <class Model>
Model fp32_model(bool rounded) {
  Rng rng(7);
  Model model({pixels, 24, 24, classes}, {}, rng);
  if (rounded) cast_layers(model, DType::f16);
  cast_layers(model, DType::f32);
  return model;
}

template <class Model>
Trained autocast(const LossScaling& scaling, bool rounded = true) {
  const Model model = fp32_model<Model>(rounded);
  Sgd sgd(tensors(model.parameters()), sgd_options);
  LossScaler scaler(scaling);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const Batch now = batch_of(step);
    Tensor loss;
    {
      const Autocast region(DType::f16);
      Tape tape;
      loss = cross_entropy(model(now.images), now.labels);
      tape.backward(scaler.scale(loss));
      CHECK(region.casts_of_parameters() == 6);  // a weight and a bias of each of three layers
    }
    CHECK(run_step(sgd, scaler).read().taken);
    trained.losses.push_back(bytes_of(loss));
  }
  trained.masters = bytes_of(sgd.master());
  return trained;
}

template <class Model>
Trained wrapped(const LossScaling& scaling) {
  const Model model = fp32_model<Model>(true);
  Sgd sgd(tensors(model.parameters()), sgd_options);
  MixedOptimizer optimizer(sgd, scaling);
  Trained trained;
  for (int step = 0; step < steps; ++step) {
    const Batch now = batch_of(step);
    const auto [loss, result] =
        optimizer.minimize([&] { return cross_entropy(model(now.images), now.labels); });
    CHECK(result.read().taken);
    trained.losses.push_back(bytes_of(loss));
  }
  trained.masters = bytes_of(sgd.master());
  return trained;
}

TEST_CASE("three styles: an MLP has the same losses and masters after 100 steps, bit for bit") {
  const Trained hand = by_hand<nn::Mlp>(recipes::fp16_master);
  CHECK(hand == autocast<nn::Mlp>(StaticScaling{.factor = S}));
  CHECK(hand == wrapped<nn::Mlp>(StaticScaling{.factor = S}));
  // Dynamic scaling that has no reason to move is static.
  CHECK(hand == autocast<nn::Mlp>(DynamicScaling{.initial = S}));
  CHECK(hand == wrapped<nn::Mlp>(DynamicScaling{.initial = S}));
  CHECK(hand.losses.front() != hand.losses.back());
  // What the first condition is for.
  CHECK_FALSE(hand == autocast<nn::Mlp>(StaticScaling{.factor = S}, false));
}

TEST_CASE("three styles: with batch norm too, when its gradients are kept in FP32") {
  Recipe recipe = recipes::o2;
  recipe.gradient = DType::f32;
  const Trained hand = by_hand<nn::BatchNormMlp>(recipe);
  CHECK(hand == autocast<nn::BatchNormMlp>(StaticScaling{.factor = S}));
  CHECK(hand == wrapped<nn::BatchNormMlp>(StaticScaling{.factor = S}));
  CHECK_FALSE(hand == by_hand<nn::BatchNormMlp>(recipes::o2));
}

TEST_CASE("three styles: cast_layers rounds weights and biases, and leaves a norm in FP32") {
  Rng rng(3);
  const nn::BatchNormMlp net({4, 3, 2}, {}, rng);
  const std::vector<Tensor> p = tensors(net.parameters());
  const float before = p[0].to_floats()[0];
  cast_layers(net, DType::f16);
  CHECK(p[0].to_floats()[0] == static_cast<float>(half(before)));
  for (const nn::Parameter& parameter : net.parameters())
    CHECK(parameter.value.dtype() == (parameter.name.starts_with("norm") ? DType::f32 : DType::f16));
  CHECK_ERROR_SAYS("is f16 but the recipe computes in f32", Sgd(p, {}));
  CHECK_ERROR_SAYS("is f32 but the recipe computes in f16", Sgd(p, {}, recipes::fp16_master));
  const Sgd sgd(p, {}, recipes::o2);
  CHECK_ERROR_SAYS("belongs to an optimizer", cast_layers(net, DType::f32));
}

TEST_CASE("three styles: the wrapped optimizer skips a step that overflows, and halves S") {
  const nn::Mlp model = fp32_model<nn::Mlp>(true);
  Sgd sgd(tensors(model.parameters()), sgd_options);
  MixedOptimizer optimizer(sgd, DynamicScaling{.initial = 0x1p30f});
  const Batch now = batch_of(0);
  const std::vector<std::byte> before = bytes_of(sgd.master());
  const auto step = optimizer.minimize([&] { return cross_entropy(model(now.images), now.labels); });
  CHECK_FALSE(step.result.read().taken);
  CHECK(optimizer.factor() == 0x1p29f);
  CHECK(bytes_of(sgd.master()) == before);
}

}  // namespace
}  // namespace tinymp::test
