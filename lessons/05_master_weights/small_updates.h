#pragma once

#include <lessons/lab/learn/contender.h>
#include <lessons/lab/learn/lab.h>
#include <string>
#include <vector>

/// Do small updates survive? Section 3.1 of the paper (Micikevicius et al. 2018, arXiv 1710.03740) as a
/// set-up in which FP16 fails for a reason. An MLP 784-128-10 learns the images upright (Adam 1e-3, FP32),
/// then the same images transposed with steps as small as fine-tuning takes them (Adam 1e-5). Measured on
/// transposed test images. Lesson 05 trains it; so do quickstart and lesson 09.
namespace tinymp::lab {

inline constexpr const char* small_updates = "Do small updates survive?";
inline constexpr float fine_tuning_rate = 1e-5f;

/// "FP32", "FP16 weights", "FP16 + FP32 master"
std::vector<Contender> small_updates_contenders();

/// The model that fine-tuning starts from: 1000 steps, FP32. For Lab::prepare; the same for all contenders of
/// a seed.
train::Plan pretraining_plan(const Lab& lab, std::uint64_t seed);

/// 3000 steps at batch 128 from `start`, which must outlive the run.
train::Plan fine_tuning_plan(const Lab& lab, const Contender& contender, std::uint64_t seed,
                             const nn::Model& start);

/// What was measured, one value a seed.
struct SmallUpdates {
  std::vector<double> fp32{}, fp16_weights{}, fp16_master{};  ///< test accuracy (%)
  double lost = train::not_measured;                          ///< share of updates lost with FP16 weights
};
SmallUpdates measured_small_updates(const Lab& lab);

/// A sentence or two made from the figures alone; says the opposite when they do.
std::string verdict_on(const SmallUpdates& measured);

/// All contenders under all seeds of `lab`, and the verdict.
void run_small_updates(Lab& lab);

}  // namespace tinymp::lab
