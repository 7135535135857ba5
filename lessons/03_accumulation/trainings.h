#pragma once

#include <lessons/lab/learn/lab.h>
#include <tinymp/numeric/accumulation.h>
#include <tinymp/optim/optimizers.h>

/// The trainings of lesson 03: SGD 0.1 with momentum 0.9, S = 1024.
namespace tinymp::lab {

inline const std::string paper = "Dark ink on white paper: may batch norm sum a batch in FP16?";
inline const std::string black = "White ink on black: may batch norm sum a batch in FP16?";
inline const std::string convolutions = "A small CNN: may batch norm sum its pixels in FP16?";
inline const std::string matmuls = "May the matmuls of a classifier sum in FP16?";

inline constexpr Sgd::Options sgd_options{.lr = 0.1f, .momentum = 0.9f};

struct Curve {
  const char* name;
  Recipe recipe;
  Accumulation sums{};  ///< over the batch in batch norm; in a matmul the recipe's
};

/// What all trainings share.
train::Plan plan_for(const std::string& question, const Curve& curve, std::uint64_t seed);

/// 784-128-10 with batch norm over the hidden layer, 60 steps of 4096 images.
train::Plan batch_norm_plan(Lab& lab, const std::string& question, const Curve& curve, std::uint64_t seed);
/// The same without batch norm, 600 steps of 128 images.
train::Plan matmul_plan(Lab& lab, const Curve& curve, std::uint64_t seed);

/// 4096; 8192 on the embedded cut: its images are greyer.
std::int64_t whole_batch(Lab& lab);
/// The same, or 256 with --smoke.
std::int64_t large_batch(Lab& lab);

}  // namespace tinymp::lab
