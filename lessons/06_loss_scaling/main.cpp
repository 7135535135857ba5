// Lesson 06 - Loss scaling: do small gradients survive?
//
// The loss of an autoencoder is a mean over a large batch and all pixels. So backward begins with a division by
// batch x 784. Four sigmoids shrink the gradients below 2^-25, and FP16 rounds them to zero. Expected: with
// S = 1 the first layers hardly learn. If the loss is multiplied by S = 1024, and the gradients are divided by
// 1024 in FP32 before the update, FP16 trains as FP32 does. So does FP16 with a dynamic S (lesson 07).
//
// Three experiments follow. show_window() trains anew for each S. ask_about_division() leaves out the
// division by S: a classifier under plain SGD then does not train. ask_about_clipping() clips the gradients
// before the division: the classifier then learns little.
//
// Model, optimizer and recipes are in autoencoder.h.

#include <fmt/format.h>
#include <lessons/06_loss_scaling/questions.h>
#include <lessons/06_loss_scaling/small_gradients.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const char* const without_master = "FP16 weights, S = 1024";

std::vector<Contender> contenders() {
  std::vector<Contender> all = small_gradients_contenders();
  Recipe recipe = recipes::fp16_weights;
  recipe.scaling = StaticScaling{.factor = static_scale};
  all.push_back({without_master, recipe});
  return all;
}

void experiment(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : contenders()) {
      lab.train(autoencoder_plan(lab, contender, seed));
    }
  }

  const SmallGradients measured = measured_small_gradients(lab);
  lab.verdict(small_gradients, verdict_on(measured));

  // README.md makes the claims below for every seed, not for the mean. A NaN makes a claim fail.
  const double asked = lab.is_cut() ? 1.15 : 1.30;
  const double unscaled = smallest(ratios(measured.unscaled, measured.fp32));
  const double constant = largest(ratios(measured.static_scaled, measured.fp32));
  const double dynamic = largest(ratios(measured.dynamic_scaled, measured.fp32));
  lab.claim(unscaled >= asked,
            fmt::format("S = 1: at least {} times FP32's MSE ({:.2f} asked)", fixed(unscaled, 2), asked));
  lab.claim(constant <= 1.05,
            fmt::format("S = 1024: at most {} times FP32's MSE (1.05 allowed)", fixed(constant, 3)));
  lab.claim(dynamic <= 1.05,
            fmt::format("dynamic S: at most {} times FP32's MSE (1.05 allowed)", fixed(dynamic, 3)));
  const double weights = largest(ratios(lab.results(small_gradients, without_master), measured.fp32));
  lab.claim(weights <= 1.05,
            fmt::format("S = 1024 without a master: at most {} times FP32's MSE (1.05 allowed)",
                        fixed(weights, 3)));
  show_window(lab);
  ask_about_division(lab);
  ask_about_clipping(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "06_loss_scaling", experiment); }
