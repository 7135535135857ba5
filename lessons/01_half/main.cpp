// Lesson 01 - half: sixteen bits for a number.
//
// First the bits: how numbers look in binary16, where it rounds, and where it ends. Then what becomes of real
// weights and gradients when they are rounded to it. Last the honest baseline: on an ordinary classifier FP16
// simply works. Expected: FP32 and FP16 end within half a point of each other. Failures need a reason, and
// the later lessons are about those reasons.

#include <fmt/format.h>
#include <lessons/learn/lab.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/numeric/half.h>
#include <tinymp/optim/sgd.h>

#include <chrono>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const std::string question = "Does FP16 harm an ordinary classifier?";

void show_bits(Lab& lab) {
  lab.say("        number   s eeeee ffffffffff   as a half      relative error");
  for (const float x : {1.0f, 0.1f, -2.0f / 3, 2049.0f, 2051.0f, 65504.0f, 65519.0f, 65520.0f, 0x1p-14f,
                        0x1p-24f, 0x1p-25f, 0x1.002p-25f}) {
    const half h(x);
    const float back = static_cast<float>(h);
    const float error = std::isinf(back) ? back : (back - x) / x;
    lab.say(fmt::format("{:>14.8g}   {}   {:<12.8g}   {:.2g}", x, to_bit_string(h), back, error));
  }
}

/// What rounding to half does to the values of an FP32 tensor.
void show_rounding(Lab& lab, const char* what, const Tensor& tensor) {
  double values = 0, flushed = 0, subnormal = 0, error = 0;
  for (const float x : tensor.to_floats()) {
    if (x == 0) continue;
    const float back = static_cast<float>(half(x));
    const bool normal = std::abs(x) >= 0x1p-14f;
    values += 1;
    flushed += back == 0;
    subnormal += back != 0 && !normal;
    if (normal) error = std::max(error, static_cast<double>(std::abs(back - x) / std::abs(x)));
  }
  lab.say(fmt::format(
      "{:<10} {:>6} not zero: {:4.1f} % become zero, {:4.1f} % subnormal; the rest is off by at most {:.2g}",
      what, values, 100 * flushed / values, 100 * subnormal / values, error));
}

/// The whole training loop, spelled out. Later lessons call train::run, which is this with more meters.
void train(Lab& lab, const std::string& name, const Recipe& recipe, std::uint64_t seed) {
  Rng rng(seed);
  nn::Mlp model({784, 64, 10}, recipe, rng);
  Sgd optimizer(model.parameters(), {.lr = 0.1f}, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, 64, seed);

  train::Run run{lab.log_path(name, seed), {}, {}, train::RunResult{}};
  run.header = {.lesson = "01_half", .question = question, .name = name, .recipe = recipe, .seed = seed};
  run.header.model = model.name();
  run.header.data = describe(lab.data());
  run.header.optimizer = "sgd lr=0.1";
  run.header.steps = lab.steps(2500, 5);
  run.header.batch = 64;
  run.header.metric = metric_name(train::Task::classify);
  run.header.higher_is_better = true;
  train::RunLog log(run.path, run.header);

  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t step = 1; step <= run.header.steps; ++step) {
    const data::Batch batch = loader.next();
    Tape tape;
    const Tensor loss =
        cross_entropy(model(batch.images), batch.labels);  // FP32, whatever the model computes in
    tape.backward(scaler.scale(loss));                     // S = 1 here
    Gradients gradients = optimizer.gradients();
    GradCheck check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    if (recipe == recipes::fp32 && step == run.header.steps) {
      show_rounding(lab, "weights", optimizer.weights());
      show_rounding(lab, "gradients", gradients.tensor());
    }
    scaler.update(std::move(check));
    optimizer.zero_grad();
    if (step == 1 || step % 25 == 0) {
      run.steps.push_back({.step = step, .loss = loss.item()});
      log.write(run.steps.back());
    }
  }
  run.result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.result->taken = run.header.steps;
  run.result->value = measure(train::Task::classify, model, lab.data().test);
  log.finish(*run.result);
  lab.add(run);
}

void experiment(Lab& lab) {
  show_bits(lab);
  for (const std::uint64_t seed : lab.seeds()) {
    train(lab, "FP32", recipes::fp32, seed);
    train(lab, "FP16 everywhere", recipes::fp16_weights, seed);
  }
  const std::vector<double> gaps =
      differences(lab.results(question, "FP32"), lab.results(question, "FP16 everywhere"));
  const double gap = std::max(largest(gaps), -smallest(gaps));
  lab.verdict(question, gap <= 0.5 ? fmt::format("No: the two end within {:.2f} points of each other.", gap)
                                   : fmt::format("They end {:.2f} points apart.", gap));
  lab.claim(gap <= 0.5, fmt::format("FP32 and FP16 end within {:.2f} points (0.5 allowed)", gap));
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv,
      {.name = "01_half",
       .title = "half: sixteen bits for a number",
       .question = "Shows the bits, what rounds and what is lost, and a classifier that does not mind"},
      experiment);
}
