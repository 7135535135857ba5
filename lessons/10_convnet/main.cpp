// Lesson 10 - A convolutional network: does mixed precision cost accuracy?
//
// ResNet-20 on CIFAR-10, from the same first weights on the same batches, in FP32 and in FP16 with masters,
// FP32 statistics and a dynamic loss scale. One pair of runs says nothing: two seeds differ by more. So
// the lesson trains pairs of five seeds, and computes an interval from their differences. Then it trains the
// same network with nothing left in FP32, and with S = 1, and counts the bytes of a step. Expected: the
// interval contains 0; all in FP16 the network is NaN within a few steps; S = 1 trains as well; the
// activations take half of the bytes.

#include <lessons/10_convnet/questions.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

void experiment(Lab& lab) {
  if (lab.options().full) return compare_in_full(lab);
  show_cost(lab);
  ask_about_parity(lab);
  ask_about_all_fp16(lab);
  ask_about_scale(lab);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "10_convnet", experiment); }
