#include <fmt/format.h>
#include <lessons/05_master_weights/fine_tuning.h>
#include <lessons/05_master_weights/questions.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/numeric/half.h>
#include <cmath>

// first_steps() uses the plan, seed and recipe of the curve "FP16 + FP32 master". So first_steps() repeats the first
// 20 steps of that run.
namespace tinymp::lab {
namespace {

constexpr int steps = 20;

/// Masters and halves of all weights before each step and after the last.
struct Course {
  std::vector<std::vector<float>> masters, halves;
};

Course first_steps(Lab& lab, const nn::Model& start, const Recipe& recipe) {
  const train::Plan plan =
      lab.complete(fine_tuning_plan(lab, {"first steps", recipe}, lab.options().first_seed, start));
  const std::unique_ptr<nn::Model> model = train::make_model(plan, recipe);
  const std::unique_ptr<Optimizer> optimizer = train::make_optimizer(plan, *model);
  LossScaler scaler(recipe.scaling);
  data::Loader loader = train::make_loader(plan);
  Course course{{optimizer->master().to_floats()}, {optimizer->weights().to_floats()}};
  for (int step = 0; step < steps; ++step) {
    const data::Batch batch = to(loader.next(), lab.device());
    {
      Tape tape;
      tape.backward(scaler.scale(cross_entropy((*model)(batch.images), batch.labels)));
    }
    Gradients gradients = optimizer->gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer->step(gradients, check);
    scaler.update(std::move(check));
    optimizer->zero_grad();
    course.masters.push_back(optimizer->master().to_floats());
    course.halves.push_back(optimizer->weights().to_floats());
  }
  return course;
}

void print_course(Lab& lab, const Course& course, std::size_t weight) {
  lab.say(fmt::format("\nThe master that moves farthest while its half stays the same for {} steps", steps));
  lab.say("  step   master in FP32      the model's half");
  constexpr std::size_t shown[] = {0, 1, 2, 5, 10, steps};
  for (const std::size_t step : shown) {
    const float half_value = course.halves[step][weight];
    lab.say(fmt::format("  {:>4}   {:<16.10f}    {:<12.10g} {}", step, course.masters[step][weight],
                        half_value, to_bit_string(half(half_value))));
  }
}

}  // namespace

void show_waiting_weights(Lab& lab, const nn::Model& start, const Recipe& recipe) {
  const Course course = first_steps(lab, start, recipe);
  std::size_t waiting = 0, farthest = 0;
  float distance = 0;
  for (std::size_t i = 0; i < course.halves.front().size(); ++i) {
    bool still = true;
    for (const std::vector<float>& halves : course.halves)
      still = still && halves[i] == course.halves.front()[i];
    const float moved = std::abs(course.masters.back()[i] - course.masters.front()[i]);
    if (!still || moved == 0) continue;
    ++waiting;
    if (moved <= distance) continue;
    distance = moved;
    farthest = i;
  }
  if (waiting > 0) print_course(lab, course, farthest);
  const double share = static_cast<double>(waiting) / static_cast<double>(course.halves.front().size());
  lab.say(fmt::format("  {} of {} weights: the master moves, its half keeps every bit for {} steps", waiting,
                      course.halves.front().size(), steps));
  lab.number("masters that move while their halves stay the same (%)", 100 * share);
  lab.claim(
      waiting > 0,
      fmt::format("masters move while their halves stay the same for {} steps: {} weights", steps, waiting),
      Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
