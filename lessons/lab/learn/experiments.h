#pragma once

#include <lessons/learn/lab.h>
#include <string>
#include <vector>

/// The two questions of the paper (Micikevicius et al. 2018, arXiv 1710.03740) as set-ups in which FP16 fails
/// for a reason. `./learn quickstart` asks both; lesson 05 asks the first, lesson 06 the second, lesson 07
/// varies it. Each plan is written down here once; Lab::train fills in data, lesson and log file.
namespace tinymp::lab {

/// One curve: the name it has everywhere, and its recipe.
struct Contender {
  std::string name;
  Recipe recipe;
};

// ---- Do small updates survive? Section 3.1 of the paper: an FP32 master copy of the weights
// ----------------------- An MLP 784-128-10 learns the images upright (Adam 1e-3, FP32), then the same images
// transposed with steps as small as fine-tuning takes them (Adam 1e-5). Measured on transposed test images.

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

// ---- Do small gradients survive? Section 3.2: loss scaling
// --------------------------------------------------------- An autoencoder 784-64-32-64-784, sigmoid
// everywhere, whose loss is the mean over batch and pixels (Adam 1e-2, 400 steps): each gradient is divided
// by batch x 784, and four sigmoids shrink it further.

inline constexpr const char* small_gradients = "Do small gradients survive?";
inline constexpr std::int64_t autoencoder_batch = 2048, autoencoder_steps = 400;
/// On the embedded cut half as many steps of twice the batch: the batch decides how far the gradients are
/// divided.
inline constexpr std::int64_t autoencoder_batch_cut = 4096, autoencoder_steps_cut = 200;
inline constexpr float static_scale = 1024;

/// "FP32", "FP16, S = 1", "FP16, static S = 1024", "FP16, dynamic S"
std::vector<Contender> small_gradients_contenders();

train::Plan autoencoder_plan(Lab& lab, const Contender& contender, std::uint64_t seed);

/// What was measured, one value a seed.
struct SmallGradients {
  std::vector<double> fp32{}, unscaled{}, static_scaled{}, dynamic_scaled{};  ///< test MSE
  double flushed = train::not_measured;  ///< share of gradients that S = 1 flushed to zero
};
SmallGradients measured_small_gradients(const Lab& lab);

std::string verdict_on(const SmallGradients& measured);

void run_small_gradients(Lab& lab);

}  // namespace tinymp::lab
