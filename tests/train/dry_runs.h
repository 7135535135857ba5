#pragma once

#include <tests/train/resume.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/nn/transformer.h>
#include <tinymp/train/dry_run.h>
#include <algorithm>

/// What the tests of dry runs share: small models with batches that fit them, and what is read from a result.
namespace tinymp::test {

using nn::Transformer;
using train::BatchShape;
using train::dry_run;
using train::KeptBytes;
using train::measured_steps;
using train::MemoryUse;
using train::Saved;
using train::Task;

/// A model with batches that fit it.
struct Planned {
  const char* name;
  train::ModelMaker make;
  BatchShape batch;
  Task task = Task::classify;
};

inline constexpr nn::TransformerSizes small{
    .words = 11, .context = 8, .layers = 2, .width = 16, .heads = 2, .dropout = 0.1f};

inline train::ModelMaker transformer(Transformer::Kind kind, const nn::TransformerSizes& sizes) {
  return [=](const Recipe& r, Rng& rng) { return std::make_unique<Transformer>(kind, sizes, r, rng); };
}

inline const std::vector<Planned>& planned() {
  constexpr auto decoder = Transformer::Kind::decoder, encoder = Transformer::Kind::encoder;
  static const auto classifier = [] {
    nn::TransformerSizes sizes = small;
    sizes.classes = 3;
    return sizes;
  }();
  static const std::vector<Planned> all{
      {"mlp", train::model_of<nn::Mlp>({784, 32, 24, 10}), {.pixels = 784}},
      {"autoencoder", train::model_of<nn::Autoencoder>({784, 16, 784}), {.pixels = 784}, Task::reconstruct},
      {"lenet",
       [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); },
       {.pixels = 784}},
      {"resnet20",
       [](const Recipe& r, Rng& rng) {
         return std::make_unique<nn::ResNet>(3, nn::ResNet::Images{}, r, rng);
       },
       {.pixels = 784}},
      {"lstm",
       [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LanguageModel>(30, 12, r, rng); },
       {.steps = 5},
       Task::name_tokens},
      {"decoder", transformer(decoder, small), {.steps = 8}, Task::name_tokens},
      {"encoder", transformer(encoder, small), {.steps = 7, .asked = 2}, Task::name_tokens},
      {"classifier", transformer(encoder, classifier), {.steps = 8, .asked = 1}, Task::name_tokens}};
  return all;
}

inline Plan plan_of(const Planned& of, const Recipe& recipe, std::int64_t batch, bool adam = true) {
  Plan plan;
  plan.name = of.name;
  plan.recipe = recipe;
  plan.model = of.make;
  plan.task = of.task;
  plan.optimizer = adam ? made<Adam>({}) : sgd(0.1f, 0.9f);
  plan.batch = batch;
  return plan;
}

inline const Planned& model_named(std::string_view name) {
  return *std::ranges::find(planned(), name, [](const Planned& p) { return std::string_view(p.name); });
}

inline Recipe delayed() {
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.scaling = TensorScaling::delayed;
  return recipe;
}

inline Recipe current() {
  Recipe recipe = recipes::fp8_hybrid;
  recipe.eight_bits.scaling = TensorScaling::current;
  return recipe;
}

inline std::string text_of(const MemoryUse& use) {
  std::string text = concat("peak ", use.peak, " in ", describe(use.heaviest), ":");
  for (std::size_t i = 0; i < memory_kinds; ++i)
    text +=
        concat(" ", name_of(static_cast<MemoryKind>(i)), " ", use.most.of[i], " (", use.at_peak.of[i], ")");
  for (const KeptBytes& k : use.kept)
    text += concat("\n  ", k.op, " ", k.dtype, k.shape, " ", k.bytes, " in ", k.times);
  return text;
}

inline void check_equal(const MemoryUse& dry, const MemoryUse& real) {
  INFO("dry:  " << text_of(dry) << "\nreal: " << text_of(real));
  CHECK(dry.peak == real.peak);
  CHECK(dry.most == real.most);
  CHECK(dry.at_peak == real.at_peak);
  CHECK(dry.at_peak.sum() == dry.peak);
  CHECK(describe(dry.heaviest) == describe(real.heaviest));
  REQUIRE(dry.parts.size() == real.parts.size());
  bool same = true;
  for (std::size_t i = 0; i < dry.parts.size(); ++i)
    same = same && describe(dry.parts[i]) == describe(real.parts[i]) &&
           dry.parts[i].then == real.parts[i].then && dry.parts[i].most == real.parts[i].most &&
           dry.parts[i].activations == real.parts[i].activations;
  CHECK(same);
}

/// The most bytes of activations.
inline std::int64_t activations(const MemoryUse& use) { return use.most[MemoryKind::activations]; }

inline std::int64_t kept_by(const MemoryUse& use, std::string_view op) {
  std::int64_t bytes = 0;
  for (const KeptBytes& kept : use.kept)
    if (kept.op == op) bytes += kept.bytes;
  return bytes;
}

}  // namespace tinymp::test
