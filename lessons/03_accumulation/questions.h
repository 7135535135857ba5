#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/numeric/accumulation.h>
#include <string>
#include <vector>

/// What lesson 03 asks beside its curves.
namespace tinymp::lab {

// ---- sums.cpp: long sums in several formats ----

/// Three sums in FP32, in FP16 and in chunks, and where they end.
void show_sums(Lab& lab);

/// The error of dot products, one value a draw, as a share of the sum of |a b|.
struct DotErrors {
  std::vector<double> f32{}, f16{}, chunks{};
  std::vector<double> fp8{};  ///< as an H100's tensor core sums e4m3 operands, keeping 13 bits
};
/// Tables by K, of U(0,1) and of N(0,1). Returns what it found for U(0,1) and K = 16384.
DotErrors show_dot_products(Lab& lab);
void claim_dot_products(Lab& lab, const DotErrors& errors);

// ---- batch_statistics.cpp: a look into the batch-normalised hidden layer ----

/// Before the first step: mean and deviation of its columns, and of a CNN's first channels, in FP32 and in
/// FP16 sums. Returns the largest error that batch norm with `sums` makes in the mean of a column on white
/// paper, in deviations of that column.
double show_first_batch(Lab& lab, const Accumulation& sums);

/// The first steps with FP16 sums, on white paper: the exact mean of a column, and the mean that batch norm
/// subtracts.
void show_first_steps(Lab& lab);

// ---- inference.cpp: a model that was trained with FP32 accumulators answers with FP16 ones ----

/// Over the test set, one value a seed.
struct Answers {
  std::vector<double> f32{}, f16{};  ///< accuracy (%) with either accumulator
  std::vector<double> changed{};     ///< answers that differ between the two, in %
};
/// Evaluates the model that `plan` has trained, then again with an FP16 accumulator in each matrix product
/// and convolution: the same FP16 weights, the same images.
void ask_twice(Lab& lab, const train::Plan& plan, const nn::Model& trained, Answers& answers);
/// A row of a table, and the claim that the answers of `model` survive.
void show_answers(Lab& lab, const char* model, const Answers& answers);
void claim_answers(Lab& lab, const char* model, const Answers& answers);

}  // namespace tinymp::lab
