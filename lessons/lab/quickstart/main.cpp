#include <lessons/05_master_weights/small_updates.h>
#include <lessons/06_loss_scaling/small_gradients.h>
#include <lessons/lab/learn/command_line.h>

// ./learn quickstart: the experiments of lessons 05 and 06, small enough for the first minutes. A program of
// its own, so that nothing is compiled for it that it does not run.
namespace {

using namespace tinymp;
using namespace tinymp::lab;

constexpr Lesson lesson{"quickstart", "tinymp quickstart: what FP16 loses, and what brings it back",
                        "Do small updates survive in FP16? Do small gradients?"};

void run_small_updates(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    const std::unique_ptr<nn::Model> start = lab.prepare(pretraining_plan(lab, seed));
    for (const Contender& contender : small_updates_contenders())
      lab.train(fine_tuning_plan(lab, contender, seed, *start));
  }
  lab.verdict(small_updates, verdict_on(measured_small_updates(lab)));
}

void run_small_gradients(Lab& lab) {
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : small_gradients_contenders())
      lab.train(autoencoder_plan(lab, contender, seed));
  }
  lab.verdict(small_gradients, verdict_on(measured_small_gradients(lab)));
}

void what_next(Lab& lab) {
  lab.say("\nWhat next?");
  lab.say("  ./learn                               the lessons, and where you are");
  lab.say("  ./learn run 0                         the first: what sixteen bits would save");
  lab.say("  ./learn train --recipe fp16_weights   a run of your own; --help tells its flags");
}

int quickstart(int argc, char** argv) {
  Options options;
  if (const std::optional<int> code = read_quickstart_options(lesson, options, argc, argv)) return *code;

  Lab lab(lesson, options);
  lab.say(lesson.title);
  lab.data();
  lab.say_data();
  lab.say(concat("\n1. ", small_updates,
                 " An MLP is fine-tuned with small steps, on the same images transposed."));
  run_small_updates(lab);
  lab.say_answer();
  lab.say(concat("\n2. ", small_gradients, " An autoencoder averages over a large batch."));
  run_small_gradients(lab);
  const int code = lab.finish();
  if (code == 0) what_next(lab);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  return guarded([&] { return quickstart(argc, argv); });
}
