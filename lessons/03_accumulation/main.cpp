// Lesson 03 - Accumulation: in which format may a long sum be kept?
//
// First the arithmetic: sums of ones that stop at 2048, dot products by length, and what chunks mend. Then a
// training where it shows: an MLP whose hidden layer is batch-normalised, over batches of 4096 images, dark
// ink on white paper. Expected: with the batch summed in FP16, one number after another, the loss is NaN
// after a few steps; summed in FP32, or in FP16 by chunks of 64, the same FP16 model ends where FP32 does.
// Two that do not fail: the same images white on black, and an FP16 accumulator in the matmuls of a
// classifier.

#include <fmt/format.h>
#include <lessons/03_accumulation/sums.h>
#include <lessons/03_accumulation/trainings.h>
#include <lessons/03_accumulation/watch.h>
#include <algorithm>
#include <cmath>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

constexpr Accumulation f16{.format = DType::f16}, chunks{.format = DType::f16, .chunk = 64};

const Curve fp32{"FP32", recipes::fp32};
const Curve fp32_sums{"FP16, FP32 sums", recipes::fp16_static};
const Curve narrow_sums{"FP16, FP16 sums", recipes::fp16_static, f16};
const Curve chunked_sums{"FP16, chunks of 64", recipes::fp16_static, chunks};

/// Sabotage: the sums that everybody believes to be in FP32 are in FP16.
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

/// How far apart the two end, on the worst seed, in points; NaN if one of them ends in NaN.
double gap(const Lab& lab, const std::string& question, const Curve& a, const Curve& b) {
  const std::vector<double> points =
      differences(lab.results(question, a.name), lab.results(question, b.name));
  return std::max(largest(points), -smallest(points));
}

bool ends_in_nan(const Lab& lab, const std::string& question, const Curve& curve) {
  return std::ranges::all_of(lab.results(question, curve.name),
                             [](double value) { return std::isnan(value); });
}

std::string verdict_on(const Lab& lab, const std::string& question, double allowed) {
  if (ends_in_nan(lab, question, narrow_sums)) return "No: the loss becomes NaN.";
  const double points = gap(lab, question, fp32_sums, narrow_sums);
  if (std::isnan(points)) return "No: on some seeds the loss becomes NaN.";
  return points <= allowed ? fmt::format("Here, yes: within {:.2f} points of FP32 sums.", points)
                           : fmt::format("It ends up to {:.1f} points from FP32 sums.", points);
}

void claim_arithmetic(Lab& lab, const DotErrors& dots) {
  lab.claim(
      smallest(dots.f16) >= 0.4,
      fmt::format("U(0,1), K = 16384: FP16 is off by {:.1f} % or more (40 asked)", 100 * smallest(dots.f16)));
  lab.claim(largest(dots.f32) <= 1e-5,
            fmt::format("... FP32 by at most {:.2g} (1e-5 allowed)", largest(dots.f32)));
  lab.claim(
      largest(dots.chunks) <= 0.005,
      fmt::format("... FP16 in chunks of 64 by at most {:.2g} % (0.5 allowed)", 100 * largest(dots.chunks)));
}

void experiment(Lab& lab) {
  show_sums(lab);
  const DotErrors dots = show_dot_products(lab);
  show_first_batch(lab);
  watch_batch_norm(lab);
  const Curve wide_sums = wide(lab);
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Curve& c : {fp32, wide_sums, narrow_sums, chunked_sums})
      lab.train(batch_norm_plan(lab, paper, c, seed));
    for (const Curve& c : {wide_sums, narrow_sums}) lab.train(batch_norm_plan(lab, black, c, seed));
    for (const Curve& c : {wide_sums, narrow_matmuls()}) lab.train(matmul_plan(lab, c, seed));
  }

  const double near = lab.is_cut() ? 3 : 0.5,
               same = lab.is_cut() ? 4 : 1;  // points; few test images in the cut
  for (const std::string& question : {paper, black, matmuls})
    lab.verdict(question, verdict_on(lab, question, same));

  claim_arithmetic(lab, dots);
  lab.claim(ends_in_nan(lab, paper, narrow_sums), "white paper: FP16 sums end in NaN on every seed");
  const auto claim_same = [&](const char* what, const std::string& question, const Curve& a, const Curve& b,
                              double allowed) {
    const double points = gap(lab, question, a, b);
    lab.claim(points <= allowed,
              fmt::format("{} within {} points ({} allowed)", what, fixed(points, 2), allowed));
  };
  claim_same("white paper: an FP16 model with FP32 sums ends where FP32 does,", paper, fp32, wide_sums, near);
  claim_same("... and with FP16 sums in chunks of 64,", paper, fp32, chunked_sums, near);
  if (!lab.is_cut())  // clothes fill the image: there the means are large, white on black or not
    claim_same("white on black: FP16 sums end where FP32 sums do,", black, wide_sums, narrow_sums, same);
  claim_same("matmuls: FP16 sums end where FP32 sums do,", matmuls, wide_sums, narrow_sums, same);
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(
      argc, argv,
      {.name = "03_accumulation",
       .title = "Accumulation: may a long sum be kept in FP16?",
       .question = "Sums that stop, dot products, and batch norm over 4096 images with FP32 and FP16 sums",
       .sabotage = "fp32_sums"},
      experiment);
}
