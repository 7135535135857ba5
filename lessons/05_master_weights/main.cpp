// Lesson 05 - Master weights: do small updates survive?
//
// A model learns to read digits in FP32. Then the model is fine-tuned on transposed digits, in small steps. The
// next half below 1 is 1 - 2^-11. So an FP16 weight of 1 absorbs every update below 2^-12. Expected: the run with
// FP16 weights stalls far below FP32. The run with an FP32 master learns as well as FP32: the optimizer updates the
// master, and rounds the master into the FP16 model after each update. Loss scaling is no cure: here updates are
// lost, not gradients.
//
// Model, optimizer and recipes are in fine_tuning.h.

#include <fmt/format.h>
#include <lessons/05_master_weights/questions.h>
#include <lessons/05_master_weights/small_updates.h>
#include <map>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

const char* const weights_scaled = "FP16 weights, S = 1024";

/// Prints the share of lost updates, the mean over all logged steps of all seeds. Updates that are zero in FP32
/// do not count.
void print_lost(Lab& lab, const std::vector<Contender>& contenders) {
  std::map<std::string, double> lost;
  lab.say("\nUpdates that moved nothing (%)     underflowed     absorbed");
  for (const Contender& c : contenders) {
    const double underflowed = 100 * mean(lab.logged(small_updates, c.name, &train::LogRecord::underflowed));
    const double absorbed = 100 * mean(lab.logged(small_updates, c.name, &train::LogRecord::absorbed));
    lab.say(fmt::format("  {:<32} {:>11} {:>12}", c.name, fixed(underflowed, 1), fixed(absorbed, 1)));
    lab.number(c.name + ": underflowed (%)", underflowed);
    lab.number(c.name + ": absorbed (%)", absorbed);
    lost[c.name] = underflowed + absorbed;
  }
  const double weights = lost["FP16 weights"], master = lost["FP16 + FP32 master"];
  lab.claim(
      master <= weights / 2,
      fmt::format("with FP16 weights {} % of the updates move nothing, with a master {} % (half of the first "
                  "share allowed)",
                  fixed(weights, 1), fixed(master, 1)),
      Lab::Judged::in_smoke_too);
}

void experiment(Lab& lab) {
  std::vector<Contender> contenders = small_updates_contenders();
  Recipe scaled = recipes::fp16_weights;
  scaled.scaling = StaticScaling{1024};
  contenders.push_back({weights_scaled, scaled});
  if (lab.sabotaged()) {  // the run named "FP16 + FP32 master" keeps no master
    for (Contender& c : contenders) {
      if (c.recipe == recipes::fp16_master) c.recipe = recipes::fp16_weights;
    }
  }

  for (const std::uint64_t seed : lab.seeds()) {
    const auto start = lab.prepare(pretraining_plan(lab, seed));
    if (seed == lab.seeds().front()) {
      show_waiting_weights(lab, *start, lab.sabotaged() ? recipes::fp16_weights : recipes::fp16_master);
    }
    for (const Contender& contender : contenders) {
      lab.train(fine_tuning_plan(lab, contender, seed, *start));
    }
  }

  print_lost(lab, contenders);
  const SmallUpdates measured = measured_small_updates(lab);
  lab.verdict(small_updates, verdict_on(measured));

  // README.md makes the claims below for every seed, not for the mean. A NaN makes a claim fail.
  const double asked = lab.is_cut() ? 15 : 25;
  const double weights = smallest(differences(measured.fp32, measured.fp16_weights));
  const double scaling = smallest(differences(measured.fp32, lab.results(small_updates, weights_scaled)));
  const std::vector<double> master = differences(measured.fp32, measured.fp16_master);
  lab.claim(weights >= asked, fmt::format("FP16 weights end at least {} points below FP32 ({} asked)",
                                          fixed(weights, 1), asked));
  lab.claim(largest(master) <= 0.5 && smallest(master) >= -0.5,
            fmt::format("an FP32 master ends within {} points of FP32 (0.5 allowed)",
                        fixed(std::max(largest(master), -smallest(master)), 2)));
  lab.claim(scaling >= asked,
            fmt::format("loss scaling does not help: with S = 1024 still at least {} points below FP32",
                        fixed(scaling, 1)));
  ask_about_averages(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "05_master_weights", experiment); }
