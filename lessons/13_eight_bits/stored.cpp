#include <fmt/format.h>
#include <lessons/13_eight_bits/eight_bits.h>
#include <lessons/13_eight_bits/wrapped.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <map>

namespace tinymp::lab {
namespace {

struct Way {
  std::string name;
  DType format;  ///< f32: weights lie as they are
  Rounding rounding = Rounding::nearest_even;
};
const std::vector<Way> ways = {{in_fp32, DType::f32},
                               {"E5M2 weights", DType::e5m2},
                               {"E5M2 weights, stochastic", DType::e5m2, Rounding::stochastic},
                               {"E4M3 weights", DType::e4m3},
                               {"E4M3 weights, stochastic", DType::e4m3, Rounding::stochastic}};

train::Plan stored_plan(Lab& lab, const Way& way, std::uint64_t seed) {
  train::Plan plan{.question = stored_weights,
                   .name = way.name,
                   .seed = seed,
                   .model = train::model_of<nn::Mlp>({784, 128, 128, 128, 10}),
                   .optimizer = train::optimizer_of<Adam>({.lr = 1e-3f}),
                   .optimizer_name = "adam lr=0.001",
                   .steps = lab.steps(500, 10),
                   .batch = 64};
  if (way.format == DType::f32) return plan;
  plan.model = [way, seed, inner = plan.model](const Recipe& recipe, Rng& rng) {
    return std::make_unique<Stored>(inner(recipe, rng), way.format, way.rounding, seed);
  };
  return plan;
}

}  // namespace

void ask_stored(Lab& lab) {
  std::map<std::string, double> lost;
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Way& way : ways) {
      std::unique_ptr<nn::Model> trained;
      lab.train(stored_plan(lab, way, seed), &trained);
      if (const auto* stored = dynamic_cast<const Stored*>(trained.get()))
        lost[way.name] += 100 * stored->lost() / static_cast<double>(lab.seeds().size());
    }
  }
  lab.say("\nUpdates that did not change their weight (%)");
  for (const Way& way : ways) {
    if (way.format == DType::f32) continue;
    lab.say(fmt::format("  {:<28} {:>6}", way.name, fixed(lost[way.name], 1)));
    lab.number(way.name + ": lost updates (%)", lost[way.name]);
  }
  const std::vector<double> fp32 = lab.results(stored_weights, in_fp32);
  const auto below = [&](const std::string& name) {
    return differences(fp32, lab.results(stored_weights, name));
  };
  const double nearest = smallest(below(ways[1].name)), random = largest(below(ways[2].name));
  lab.verdict(stored_weights,
              fmt::format("E5M2 weights rounded to nearest end {} points below FP32 or more, stochastically "
                          "rounded {} or less.",
                          fixed(nearest, 1), fixed(random, 1)));
  lab.claim(nearest >= 5, fmt::format("E5M2 weights, to nearest: at least {} points below FP32 (5 asked)",
                                      fixed(nearest, 1)));
  lab.claim(random <= 2,
            fmt::format("... rounded stochastically: at most {} points (2 allowed)", fixed(random, 2)));
}

}  // namespace tinymp::lab
