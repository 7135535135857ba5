// Lesson 04 - autograd: where do the casts sit?
//
// While a model computes, a tape writes down every op; backward reads it from the end to the beginning. A
// cast to FP16 is an op like any other, and its backward casts the gradient back: that is how an FP32 weight
// gets its gradient from a loss that was computed in FP16. Expected: with all casts on the tape the model
// trains as in FP32. With one cast beside the tape nothing crashes and the loss falls, but the first layer
// never learns.

#include <fmt/format.h>
#include <lessons/04_autograd/model.h>
#include <lessons/04_autograd/show.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const std::string question = "What if the tape does not hear of a cast?";
const char *const fp32 = "FP32", *const on_the_tape = "FP16, casts on the tape",
                  *const one_beside = "FP16, one cast beside the tape";

train::Plan plan_for(const Lab& lab, const char* name, Casts casts, std::uint64_t seed) {
  train::Plan plan;
  plan.question = question;
  plan.name = name;
  plan.seed = seed;
  plan.recipe = recipes::fp32;  // of the weights and of the optimizer: the model itself casts
  plan.model = [casts](const Recipe&, Rng& rng) { return std::make_unique<CastMlp>(casts, rng); };
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<Sgd>(std::move(parameters), Sgd::Options{.lr = 0.1f}, recipe);
  };
  plan.optimizer_name = "sgd lr=0.1";
  plan.steps = lab.steps(2500, 5);
  return plan;
}

/// The share of gradients that are exactly zero, over all seeds and logged steps.
double zero_share(const Lab& lab, const char* name) {
  std::vector<double> shares;
  for (const train::Run* run : lab.runs(question, name)) {
    for (const train::LogRecord& record : run->steps) {
      if (!std::isnan(record.zero)) shares.push_back(record.zero);
    }
  }
  return mean(shares);
}

std::string verdict_on(double lost, double gap) {
  const std::string with_all =
      fmt::format("With every cast on the tape it ends up to {} points from FP32.", fixed(gap, 2));
  if (std::isnan(lost)) return "No answer: a run ended in NaN.";
  if (lost < 0.5) return fmt::format("Here it does no harm ({} points). {}", fixed(lost, 1), with_all);
  return fmt::format("Nothing crashes, and accuracy ends {} points lower. {}", fixed(lost, 1), with_all);
}

void experiment(Lab& lab) {
  show_tape(lab);
  const double error = show_gradient_checks(lab);
  show_gradient_of_cast(lab);
  for (const std::uint64_t seed : lab.seeds()) {
    lab.train(plan_for(lab, fp32, Casts::none, seed));
    // Sabotage: a cast that should be on the tape has lost its backward.
    lab.train(plan_for(lab, on_the_tape, lab.sabotaged() ? Casts::one_beside : Casts::on_the_tape, seed));
    lab.train(plan_for(lab, one_beside, Casts::one_beside, seed));
  }
  const std::vector<double> all = lab.results(question, fp32);
  const std::vector<double> gaps = differences(all, lab.results(question, on_the_tape));
  const double gap = std::max(largest(gaps), -smallest(gaps));
  const double lost = smallest(differences(all, lab.results(question, one_beside)));
  lab.verdict(question, verdict_on(lost, gap));
  const double zero = 100 * zero_share(lab, fp32), zero_on = 100 * zero_share(lab, on_the_tape),
               zero_beside = 100 * zero_share(lab, one_beside);
  lab.claim(error < 1e-8, fmt::format("backward agrees with differences to {:.0e} (1e-8 allowed)", error),
            Lab::Judged::in_smoke_too);
  lab.claim(std::abs(zero_on - zero) <= 5,
            fmt::format("casts on the tape: {:.1f} % of the gradients are zero, in FP32 {:.1f} % (within 5)",
                        zero_on, zero),
            Lab::Judged::in_smoke_too);
  lab.claim(zero_beside >= 98, fmt::format("one cast beside it: {:.1f} % are zero (98 asked)", zero_beside),
            Lab::Judged::in_smoke_too);
  const double allowed = lab.is_cut() ? 1.0 : 0.5;  // the cut has 1000 test images: 0.1 points each
  lab.claim(gap <= allowed,
            fmt::format("casts on the tape: within {} points of FP32 ({} allowed)", fixed(gap, 2), allowed));
  lab.claim(lost >= 3,
            fmt::format("one cast beside it: at least {} points below FP32 (3 asked)", fixed(lost, 1)));
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "04_autograd", experiment); }
