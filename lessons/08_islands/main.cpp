// Lesson 08 - FP32 islands: which parts of an FP16 model have to compute in FP32?
//
// Three classifiers compute their matrix products in FP16. One part of the rest of the step is in FP16 too,
// one at a time: the softmax and its loss, the mean and variance of layer norm, the moments and epsilon of
// Adam. Expected: a softmax written as it is defined ends in NaN after some steps, even with the maximum
// subtracted; the same formula on FP32 numbers trains. Layer norm with FP16 sums is NaN at once on white
// paper; on black it gives the same answer for every image, without a NaN. Adam's second moment is 0 in FP16,
// and so is its epsilon.

#include <lessons/08_islands/questions.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

void experiment(Lab& lab) {
  show_bits(lab);
  ask_about_softmax(lab);
  ask_about_layer_norm(lab);
  ask_about_adam(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "08_islands", experiment); }
