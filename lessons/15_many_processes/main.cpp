// Lesson 15 - Many processes: does a step that they share stay the step of one?
//
// Ranks share the micro-batches of a step. They add up their gradients, and all of them take the same step.

#include <lessons/15_many_processes/questions.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

void experiment(Lab& lab) {
  show_order(lab);
  show_window(lab);
  ask_same(lab);
  ask_overflow(lab);
  ask_underflow(lab);
  ask_decision(lab);
  ask_shards(lab);
  if (const std::unique_ptr<data::Text> text = characters(lab)) {
    ask_pipeline(lab, *text);
    show_bubble(lab, *text);
  }
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "15_many_processes", experiment); }
