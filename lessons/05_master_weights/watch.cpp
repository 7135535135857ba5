#include <fmt/format.h>
#include <lessons/05_master_weights/watch.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/numeric/half.h>
#include <tinymp/optim/adam.h>
#include <cmath>

// The weights and the batches are those of train::run, so this is the run that the curves show.
namespace tinymp::lab {
namespace {

constexpr int steps = 20;

/// Masters and halves of all weights before each step and after the last.
struct Watched {
  std::vector<std::vector<float>> masters, halves;
};

Watched watched(Lab& lab, const nn::Model& start, const Recipe& recipe) {
  const Rng seed(lab.options().first_seed);
  Rng unused(0);
  const nn::Mlp model({784, 128, 10}, recipe, unused);
  nn::copy_parameters(start, model);
  move_to(model, lab.device());
  Adam optimizer(tensors(model.parameters()), {.lr = fine_tuning_rate}, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, 128, seed.split(1).seed(), {.transpose = true});
  Watched seen{{optimizer.master().to_floats()}, {optimizer.weights().to_floats()}};
  for (int step = 0; step < steps; ++step) {
    const data::Batch batch = to(loader.next(), lab.device());
    {
      Tape tape;
      tape.backward(scaler.scale(cross_entropy(model(batch.images), batch.labels)));
    }
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
    seen.masters.push_back(optimizer.master().to_floats());
    seen.halves.push_back(optimizer.weights().to_floats());
  }
  return seen;
}

void print_course(Lab& lab, const Watched& seen, std::size_t weight) {
  lab.say(fmt::format("\nThe weight whose master goes farthest in {} steps before its half moves", steps));
  lab.say("  step   master in FP32      the model's half");
  constexpr std::size_t shown[] = {0, 1, 2, 5, 10, steps};
  for (const std::size_t step : shown) {
    const float half_value = seen.halves[step][weight];
    lab.say(fmt::format("  {:>4}   {:<16.10f}    {:<12.10g} {}", step, seen.masters[step][weight], half_value,
                        to_bit_string(half(half_value))));
  }
}

}  // namespace

void watch_master(Lab& lab, const nn::Model& start, const Recipe& recipe) {
  const Watched seen = watched(lab, start, recipe);
  std::size_t waiting = 0, farthest = 0;
  float distance = 0;
  for (std::size_t i = 0; i < seen.halves.front().size(); ++i) {
    bool still = true;
    for (const std::vector<float>& halves : seen.halves) still = still && halves[i] == seen.halves.front()[i];
    const float moved = std::abs(seen.masters.back()[i] - seen.masters.front()[i]);
    if (!still || moved == 0) continue;
    ++waiting;
    if (moved <= distance) continue;
    distance = moved;
    farthest = i;
  }
  if (waiting > 0) print_course(lab, seen, farthest);
  const double share = static_cast<double>(waiting) / static_cast<double>(seen.halves.front().size());
  lab.say(fmt::format("  {} of {} weights: the master moves, its half keeps every bit for {} steps", waiting,
                      seen.halves.front().size(), steps));
  lab.number("masters that move under a half that does not (%)", 100 * share);
  lab.claim(waiting > 0,
            fmt::format("masters collect what their halves cannot show: {} weights wait for {} steps",
                        waiting, steps),
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
