// Lesson 03 - Accumulation: in which format may a long sum be kept?
//
// First the arithmetic: sums of ones that stop at 2048, dot products by length, and what chunks mend. Then
// trainings where it shows: batch norm in an MLP over batches of 4096 images, dark ink on white paper, and in
// a small CNN over 100,352 pixels. Expected: with the batch summed in FP16, one number after another, the
// loss is NaN after a few steps; summed in FP32 the same FP16 model ends where FP32 does. Three that do not
// fail: the same images white on black, an FP16 accumulator in the matmuls of a classifier, and trained
// models that are asked with FP16 accumulators.

#include <fmt/format.h>
#include <lessons/03_accumulation/cnn.h>
#include <lessons/03_accumulation/questions.h>
#include <cmath>

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

/// May FP16 sum the batch? Judged by how `narrow` ends, beside `wide`.
void give_verdict(Lab& lab, const std::string& question, const Curve& wide, const Curve& narrow) {
  const double points = largest_gap(lab.results(question, wide.name), lab.results(question, narrow.name));
  lab.verdict(question,
              std::isnan(points)
                  ? "No: the loss becomes NaN."
                  : fmt::format("{}: within {:.2f} points of FP32 sums.",
                                points <= (lab.is_cut() ? 4 : 1) ? "Here, yes" : "No, only", points));
}

void experiment(Lab& lab) {
  const Curve wide_sums = wide(lab);
  show_sums(lab);
  const DotErrors dots = show_dot_products(lab);
  const double error = show_first_batch(lab, wide_sums.sums);
  show_first_steps(lab);

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
  claim_dot_products(lab, dots);
  lab.claim(error <= 1e-3,
            fmt::format(
                "FP32 sums: no mean of the first batch is off by more than {:.2g} deviations (0.001 allowed)",
                error),
            Lab::Judged::in_smoke_too);
  lab.claim(lab.ends_in_nan(paper, narrow_sums.name), "white paper: FP16 sums end in NaN on every seed");
  lab.claim_same(paper, fp32.name, wide_sums.name,
                 "white paper: an FP16 model with FP32 sums ends where FP32 does,", near);
  lab.claim_same(paper, fp32.name, chunked_sums.name, "... and with FP16 sums in chunks of 64,", near);
  if (!lab.is_cut())  // clothes fill the image: there the means are large, white on black or not
    lab.claim_same(black, wide_sums.name, narrow_sums.name,
                   "white on black: FP16 sums end where FP32 sums do,", same);
  lab.claim(lab.ends_in_nan(convolutions, narrow_sums.name), "CNN: FP16 sums end in NaN on every seed");
  lab.claim_same(convolutions, fp32.name, wide_sums.name,
                 "CNN: an FP16 model with FP32 sums ends where FP32 does,", same);
  lab.claim_same(matmuls, wide_sums.name, narrow_sums.name, "matmuls: FP16 sums end where FP32 sums do,",
                 same);
  claim_answers(lab, "MLP", mlp);
  claim_answers(lab, "batch norm MLP", norm_mlp);
  claim_answers(lab, "batch norm CNN", cnn);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "03_accumulation", experiment); }
