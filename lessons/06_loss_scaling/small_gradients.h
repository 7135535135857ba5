#pragma once

#include <lessons/lab/learn/contender.h>
#include <lessons/lab/learn/lab.h>
#include <string>
#include <vector>

/// Do small gradients survive? Section 3.2 of the paper (Micikevicius et al. 2018, arXiv 1710.03740): loss
/// scaling. An autoencoder 784-64-32-64-784, sigmoid everywhere, whose loss is the mean over batch and pixels
/// (Adam 1e-2, 400 steps): each gradient is divided by batch x 784, and four sigmoids shrink it further.
/// Lesson 06 trains it; quickstart too, and lessons 01, 07 and 09 vary it.
namespace tinymp::lab {

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
