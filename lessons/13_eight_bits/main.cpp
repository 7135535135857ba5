// Lesson 13 - Eight bits: does a network train with them?
//
// An E5M2 number has two bits of fraction and the range of FP16 without most of its subnormals. Mellempudi et al. 2019
// round every operand of a product to it, forward and backward. The lesson shows what an easy classifier hides: errors in
// E4M3 without a scale, weights stored in eight bits, an autoencoder and a word model at S = 1, a dynamic S that overflows
// without a cause push below the point where gradients vanish. Expected: a large S, a floor under it, random rounding where
// weights are stored, and a scale for each tensor mend these.

#include <lessons/13_eight_bits/eight_bits.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

void experiment(Lab& lab) {
  if (lab.options().full) return compare_in_pairs(lab);
  show_formats(lab);
  show_accumulators(lab);
  show_scalers(lab);
  show_disagreements(lab);
  show_bytes(lab);
  ask_easy(lab);
  ask_errors(lab);
  ask_stored(lab);
  ask_small(lab);
  ask_spurious(lab);
  ask_words(lab);
  ask_growing(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "13_eight_bits", experiment); }
