#include <fmt/format.h>
#include <lessons/14_memory/questions.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/optim/optimizers.h>

namespace tinymp::lab {
namespace {

constexpr std::int64_t accumulated = 16, steps_of_32 = 400;

struct Way {
  std::string name;
  Recipe recipe;
  std::int64_t batch, micro_batches, steps;
  float lr;
};

const std::string whole = "batch 32", two = "batch 2", summed = "batch 2 x 16",
                  summed_fp16 = "batch 2 x 16, FP16, dynamic S", slow = "batch 2, all images, lr / 16",
                  fast = "batch 2, all images";

std::vector<Way> ways(const Lab& lab) {
  constexpr float lr = 0.05f;
  const float rate = lab.sabotaged("divide") ? lr * accumulated : lr;  // a sum that nothing divides
  constexpr std::int64_t long_run = steps_of_32 * accumulated;
  return {{whole, recipes::fp32, 32, 1, steps_of_32, lr},
          {summed, recipes::fp32, 2, accumulated, steps_of_32, rate},
          {summed_fp16, fp16_moving(), 2, accumulated, steps_of_32, rate},
          {two, recipes::fp32, 2, 1, steps_of_32, lr},
          {fast, recipes::fp32, 2, 1, long_run, lr},
          {slow, recipes::fp32, 2, 1, long_run, lr / accumulated}};
}

train::Plan plan_of(const Lab& lab, const std::string& question, const Way& way, std::uint64_t seed) {
  return {.question = question,
          .name = way.name,
          .recipe = way.recipe,
          .seed = seed,
          .model = [](const Recipe& r, Rng& rng) { return std::make_unique<nn::LeNet>(r, rng); },
          .optimizer = train::optimizer_of<Sgd>({.lr = way.lr, .momentum = 0.9f}),
          .optimizer_name = fmt::format("sgd lr={} momentum=0.9 cosine", way.lr),
          .schedule = ScheduleKind::cosine,
          .steps = lab.steps(way.steps, 4),
          .batch = way.batch,
          .micro_batches = way.micro_batches};
}

std::vector<double> below(const Lab& lab, const std::string& question, const std::string& name) {
  return differences(lab.results(question, whole), lab.results(question, name));
}

}  // namespace

void ask_small_batch(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds())
    for (const Way& way : ways(lab)) lab.train(plan_of(lab, small_batch, way, seed));
  const double off = largest_gap(lab.results(small_batch, whole), lab.results(small_batch, summed)),
               least = smallest(below(lab, small_batch, two)),
               ahead = -largest(below(lab, small_batch, slow));
  lab.verdict(
      small_batch,
      fmt::format("2 x 16 ends within {} points of a batch of 32. A batch of 2 ends {} points below "
                  "it or more; with a sixteenth of the rate and 16 times the steps {} above it or more.",
                  fixed(off, 2), fixed(least, 1), fixed(ahead, 2)));
  lab.claim_same(small_batch, summed, whole, "batch 2 x 16 ends as a batch of 32", 0.5);
  lab.claim_same(small_batch, summed_fp16, whole, "... in FP16", 0.5);
  lab.claim(least >= 2,
            fmt::format("a batch of 2, as many steps: at least {} points below (2 asked)", fixed(least, 1)));
  lab.claim(
      ahead >= -0.5,
      fmt::format("... as many images, a sixteenth of the rate: at least {} points above (-0.5 allowed)",
                  fixed(ahead, 2)));
}

void ask_norms(Lab& lab) {
  const std::vector<Way> all = ways(lab);
  for (const std::uint64_t seed : lab.seeds())
    for (const Way& way : {all[0], all[1]}) {
      train::Plan plan = plan_of(lab, norms, way, seed);
      plan.model = train::model_of<nn::BatchNormMlp>({784, 64, 64, 10});
      lab.train(std::move(plan));
    }
  const std::vector<double> points = below(lab, norms, summed);
  lab.verdict(norms, fmt::format("No: 2 x 16 ends {} to {} points below a batch of 32.",
                                 fixed(smallest(points), 1), fixed(largest(points), 1)));
  lab.claim(smallest(points) >= 2,
            fmt::format("batch norm, 2 x 16: at least {} points below a batch of 32 (2 asked)",
                        fixed(smallest(points), 1)));
}

}  // namespace tinymp::lab
