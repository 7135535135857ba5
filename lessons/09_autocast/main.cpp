// Lesson 09 - Autocast: who decides which op runs in which format?
//
// Lesson 08 ended with a table of the ops that need FP32, and cast by hand. Here three lists
// decide: matrix products run in FP16, exp, log, sums and losses in FP32, sums of two tensors in the
// wider of both. Expected: under the lists a loss written as single ops trains like FP32; with those ops on
// the FP16 list it is NaN. Apex' levels O1 (autocast) and O2 (FP16 weights with FP32 masters) end where
// O0 (FP32) does, even if updates are small; O3 (FP16 throughout) does not. The three programs of the
// literature - layers cast by hand, autocast with a scaler, a wrapped optimizer - give the same bits.

#include <lessons/09_autocast/questions.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

void experiment(Lab& lab) {
  show_lists(lab);
  show_casts(lab);
  ask_about_the_loss(lab);
  ask_about_levels(lab);
  compare_styles(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "09_autocast", experiment); }
