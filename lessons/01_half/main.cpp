// Lesson 01 - half: sixteen bits for a number.
//
// First the bits: how numbers look in binary16, where it rounds, and where it ends. Then what becomes of real
// weights and gradients when they are rounded to it. Then the honest baseline: on an ordinary classifier FP16
// simply works. Expected: FP32 and FP16 end within half a point of each other. Failures need a reason, and
// the later lessons are about those reasons. Last, what the smallest halves are worth: an autoencoder on a
// machine that takes subnormals for zero (subnormals.cpp).

#include <fmt/format.h>
#include <lessons/01_half/show.h>
#include <lessons/01_half/subnormals.h>
#include <lessons/lab/report/progress.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <chrono>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const std::string question = "Does FP16 harm an ordinary classifier?";

/// The whole training loop, spelled out. Later lessons call train::run, which is this with more meters.
void train(Lab& lab, const std::string& name, const Recipe& recipe, std::uint64_t seed) {
  Rng rng(seed);
  nn::Mlp model({784, 64, 10}, recipe, rng);
  move_to(model, lab.device());
  Sgd optimizer(tensors(model.parameters()), {.lr = 0.1f}, recipe);
  LossScaler scaler(recipe.scaling);
  data::Loader loader(lab.data().train, 64, seed);

  const train::Plan plan = lab.complete({.question = question,
                                         .name = name,
                                         .recipe = recipe,
                                         .seed = seed,
                                         .optimizer_name = "sgd lr=0.1",
                                         .steps = lab.steps(2500, 5)});
  train::Run run{lab.log_path(plan.name, seed), train::header_of(plan, model), {}, train::RunResult{}};
  train::RunLog log(run.path, run.header);
  run.header = log.header();  // with commit, compiler, machine

  report::Progress bar(stderr, report::pad(concat(name, ", seed ", seed), 23), plan.steps,
                       lab.options().plain);
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t step = 1; step <= plan.steps; ++step) {
    const data::Batch batch = to(loader.next(), lab.device());
    Tape tape;
    const Tensor loss =
        cross_entropy(model(batch.images), batch.labels);  // FP32, whatever the model computes in
    tape.backward(scaler.scale(loss));                     // S = 1 here
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    if (train::is_due(step, 25) || step == plan.steps) {
      run.steps.push_back({.step = step, .loss = loss.item()});  // item() waits for the device
      log.write(run.steps.back());
      bar.update(step, run.steps.back().loss);
    }
    if (step == plan.steps) bar.finish();
    if (recipe == recipes::fp32 && step == plan.steps) {
      show_rounding(lab, "weights", optimizer.weights());
      show_rounding(lab, "gradients", gradients.tensor());
    }
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  run.result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.result->taken = plan.steps;
  run.result->value = measure(train::Task::classify, model, lab.data().test, {}, lab.device());
  log.finish(*run.result);
  lab.add(run);
}

void experiment(Lab& lab) {
  show_bits(lab);
  for (const std::uint64_t seed : lab.seeds()) {
    train(lab, "FP32", recipes::fp32, seed);
    train(lab, "FP16 everywhere", recipes::fp16_weights, seed);
  }
  const double gap = largest_gap(lab.results(question, "FP32"), lab.results(question, "FP16 everywhere"));
  lab.verdict(question, std::isnan(gap) ? "No answer: a run ended in NaN."
                        : gap <= 0.5 ? fmt::format("No: the two end within {:.2f} points of each other.", gap)
                                     : fmt::format("They end {:.2f} points apart.", gap));
  lab.claim_same(question, "FP32", "FP16 everywhere", "FP32 and FP16 end", 0.5);
  ask_about_subnormals(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "01_half", experiment); }
