// Lesson 14 - When it does not fit: what takes the memory, and what saves it?
//
// A training step keeps weights, masters, moments, gradients, and what forward leaves for backward. FP16 halves the last of
// these, and not the others. The lesson counts them for BERT without taking them, breaks attention in FP16, sums gradients of
// small batches, and runs blocks of a model a second time instead of keeping what they made. Expected: FP16 saves a third or
// more only where activations are most of the bytes; a mask that is multiplied by 1e9 is NaN in the first step; 8 x 32 is 256
// if each gradient counts once; what runs twice has the same bits if dropout, casts and averages know that it is the second
// time.

#include <lessons/14_memory/questions.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

void experiment(Lab& lab) {
  const std::unique_ptr<data::Text> text = characters(lab);
  if (lab.options().full) return ask_parity(lab, *text);
  show_bytes(lab);
  show_attention(lab);
  show_sums(lab, text.get());
  show_overflow(lab);
  show_recomputation(lab);
  if (text) {
    ask_parity(lab, *text);
    ask_by_hand(lab, *text);
  }
  ask_small_batch(lab);
  ask_norms(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "14_memory", experiment); }
