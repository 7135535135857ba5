// Lesson 03 - Accumulation: in which format may a long sum be kept?
//
// First the arithmetic: sums of ones that stop at 2048, dot products by length, and what chunks mend. Then
// trainings where it shows: batch norm in an MLP over batches of 4096 images, dark ink on white paper, and in
// a small CNN over 100,352 pixels. Expected: with the batch summed in FP16, one number after another, the
// loss is NaN after a few steps; summed in FP32 the same FP16 model ends where FP32 does. Three that do not
// fail: the same images white on black, an FP16 accumulator in the matmuls of a classifier, and trained
// models that are asked with FP16 accumulators.

#include <lessons/03_accumulation/cnn.h>
#include <lessons/03_accumulation/verdicts.h>
#include <lessons/03_accumulation/watch.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

constexpr Accumulation f16{.format = DType::f16}, chunks{.format = DType::f16, .chunk = 64};

const Curve fp32{"FP32", recipes::fp32};
const Curve fp32_sums{"FP16, FP32 sums", recipes::fp16_static};
const Curve narrow_sums{"FP16, FP16 sums", recipes::fp16_static, f16};
const Curve chunked_sums{"FP16, chunks of 64", recipes::fp16_static, chunks};

/// Sabotage: the sums that should be in FP32 are in FP16.
Curve wide(const Lab& lab) {
  Curve curve = fp32_sums;
  if (lab.sabotaged()) curve.sums = f16;
  return curve;
}

/// The recipe's accumulator is that of the matmuls.
Curve narrow_matmuls() {
  Curve curve{narrow_sums.name, recipes::fp16_static};
  curve.recipe.accumulate = DType::f16;
  return curve;
}

/// Trains `plan` and evaluates the model with an FP32 and with an FP16 accumulator.
void train_and_ask(Lab& lab, const train::Plan& plan, Answers& answers) {
  std::unique_ptr<nn::Model> trained;
  lab.train(plan, &trained);
  ask_twice(lab, plan, *trained, answers);
}

void experiment(Lab& lab) {
  const Curve wide_sums = wide(lab);
  show_sums(lab);
  const DotErrors dots = show_dot_products(lab);
  const double error = show_first_batch(lab, wide_sums.sums);
  watch_batch_norm(lab);

  Answers mlp, norm_mlp, cnn;
  for (const std::uint64_t seed : lab.seeds()) {
    lab.train(batch_norm_plan(lab, paper, fp32, seed));
    train_and_ask(lab, batch_norm_plan(lab, paper, wide_sums, seed), norm_mlp);
    for (const Curve& c : {narrow_sums, chunked_sums}) lab.train(batch_norm_plan(lab, paper, c, seed));
    for (const Curve& c : {wide_sums, narrow_sums}) lab.train(batch_norm_plan(lab, black, c, seed));
    lab.train(cnn_plan(lab, fp32, seed));
    train_and_ask(lab, cnn_plan(lab, wide_sums, seed), cnn);
    for (const Curve& c : {narrow_sums, chunked_sums}) lab.train(cnn_plan(lab, c, seed));
    train_and_ask(lab, matmul_plan(lab, wide_sums, seed), mlp);
    lab.train(matmul_plan(lab, narrow_matmuls(), seed));
  }
  for (const std::string& question : {paper, black, convolutions, matmuls})
    give_verdict(lab, question, wide_sums, narrow_sums);
  lab.say(
      "\nTrained once, asked twice   accuracy, FP32 sums       accuracy, FP16 sums   answers changed (%)");
  show_answers(lab, "MLP", mlp);
  show_answers(lab, "batch norm MLP, paper", norm_mlp);
  show_answers(lab, "batch norm CNN", cnn);

  const double near = lab.is_cut() ? 3 : 0.5,
               same = lab.is_cut() ? 4 : 1;  // points; few test images in the cut
  claim_arithmetic(lab, dots);
  claim_mean(lab, error);
  claim_nan(lab, "white paper: FP16 sums", paper, narrow_sums);
  claim_same(lab, "white paper: an FP16 model with FP32 sums ends where FP32 does,", paper, fp32, wide_sums,
             near);
  claim_same(lab, "... and with FP16 sums in chunks of 64,", paper, fp32, chunked_sums, near);
  if (!lab.is_cut())  // clothes fill the image: there the means are large, white on black or not
    claim_same(lab, "white on black: FP16 sums end where FP32 sums do,", black, wide_sums, narrow_sums, same);
  claim_nan(lab, "CNN: FP16 sums", convolutions, narrow_sums);
  claim_same(lab, "CNN: an FP16 model with FP32 sums ends where FP32 does,", convolutions, fp32, wide_sums,
             same);
  claim_same(lab, "matmuls: FP16 sums end where FP32 sums do,", matmuls, wide_sums, narrow_sums, same);
  claim_answers(lab, "MLP", mlp);
  claim_answers(lab, "batch norm MLP", norm_mlp);
  claim_answers(lab, "batch norm CNN", cnn);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "03_accumulation", experiment); }
