#include <fmt/format.h>
#include <lessons/15_many_processes/questions.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <cmath>

// Gradients in 16 bits between 8 ranks. All else is FP32, so that only the wire rounds.
namespace tinymp::lab {
namespace {

using dist::Divide;

constexpr int ranks = 8;

struct Way {
  std::string name;
  dist::Wire wire;
};

const Way as_it_is{"FP32 on the wire", {}}, after{"FP16, divided after", {DType::f16, Divide::after}},
    split{"FP16, split", {DType::f16, Divide::split}},
    first{"FP16, divided first", {DType::f16, Divide::first}},
    wide{"BF16, divided first", {DType::bf16, Divide::first}};

Recipe at_scale(float s) {
  Recipe recipe = recipes::fp32;
  recipe.scaling = StaticScaling{s};  // it skips nothing
  return recipe;
}

train::Plan classifier(const Lab& lab, const Way& way, std::uint64_t seed) {
  return {.question = overflow,
          .name = way.name,
          .recipe = at_scale(0x1p16f),
          .seed = seed,
          .model = train::model_of<nn::Mlp>({784, 64, 10}),
          .optimizer = train::optimizer_of<Sgd>({.lr = 0.1f, .momentum = 0.9f}),
          .optimizer_name = "sgd lr=0.1 momentum=0.9",
          .steps = lab.steps(60, 6),
          .batch = 8,
          .micro_batches = ranks,
          .wire = way.wire};
}

train::Plan autoencoder(const Lab& lab, const Way& way, std::uint64_t seed, float s) {
  return {.question = underflow,
          .name = s == 1 ? way.name : fmt::format("{}, S = {}", way.name, s),
          .recipe = at_scale(s),
          .seed = seed,
          .task = train::Task::reconstruct,
          .model = train::model_of<nn::Autoencoder>({784, 64, 32, 64, 784}),
          .optimizer = train::optimizer_of<Adam>({.lr = 0.01f}),
          .optimizer_name = "adam lr=0.01",
          .steps = lab.steps(200, 4),
          .batch = 32,
          .micro_batches = ranks,
          .wire = way.wire};
}

}  // namespace

void ask_overflow(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds())
    for (const Way& way : {as_it_is, after, split, first, wide})
      train_on_ranks(lab, classifier(lab, way, seed), ranks);
  lab.verdict_on_nan(overflow, {as_it_is.name, after.name, split.name, first.name, wide.name});
  lab.claim_nan(overflow, after.name, "S = 65536, FP16 on the wire, divided after the sum",
                Lab::Judged::in_full);
  lab.claim_same(overflow, first.name, as_it_is.name, "... divided first, it ends where FP32 does", 1);
  lab.claim_same(overflow, wide.name, as_it_is.name, "... and so does BF16", 1);
}

void ask_underflow(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Way& way : {as_it_is, after, split, first, wide})
      train_on_ranks(lab, autoencoder(lab, way, seed, 1), ranks);
    train_on_ranks(lab, autoencoder(lab, first, seed, 1024), ranks);
  }
  const auto zeros = [&](const Way& way) {
    return 100 * mean(lab.logged(underflow, way.name, [](const train::LogRecord& r) { return r.zero; }));
  };
  const auto worse = [&](const std::string& name) {  // percent, seed by seed
    std::vector<double> all = ratios(lab.results(underflow, name), lab.results(underflow, as_it_is.name));
    for (double& ratio : all) ratio = 100 * (ratio - 1);
    return all;
  };
  const std::vector<double> early = worse(first.name), mended = worse(first.name + ", S = 1024"),
                            bf16 = worse(wide.name);
  const double there = zeros(as_it_is), lost = zeros(first);
  lab.verdict(underflow,
              fmt::format("Divided first, {} % of the sums are 0, in FP32 {} %. The MSE is {} % higher.",
                          fixed(lost, 0), fixed(there, 0), range(smallest(early), largest(early), 1)));
  lab.claim(
      lost >= there + 20,
      fmt::format(
          "S = 1, FP16 on the wire, divided first: {} % of the sums are 0, in FP32 {} % (20 more asked)",
          fixed(lost, 0), fixed(there, 0)));
  lab.claim(smallest(early) > 0 && largest(early) <= 10,
            fmt::format("... and the MSE is {} % higher (0 to 10 asked)",
                        range(smallest(early), largest(early), 1)));
  lab.claim(largest(mended) <= 1, fmt::format("... S = 1024 mends it: at most {} % above FP32 (1 allowed)",
                                              fixed(largest(mended), 1)));
  lab.claim(largest(bf16) <= 1, fmt::format("... and so does BF16: at most {} % above FP32 (1 allowed)",
                                            fixed(largest(bf16), 1)));
}

}  // namespace tinymp::lab
