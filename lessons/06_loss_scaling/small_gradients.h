#pragma once

#include <lessons/06_loss_scaling/autoencoder.h>
#include <string>
#include <vector>

/// The results of the autoencoder's runs in numbers and words, for lesson 06 and quickstart.
namespace tinymp::lab {

/// A list has one value a seed. `flushed` is one number, the mean over the measured steps of all seeds.
struct SmallGradients {
  std::vector<double> fp32{}, unscaled{}, static_scaled{}, dynamic_scaled{};  ///< test MSE
  double flushed = train::not_measured;  ///< share of gradients that S = 1 flushed to zero
};
SmallGradients measured_small_gradients(const Lab& lab);

/// Returns a verdict in words. The measured numbers choose its first words: "No", "In part" or "Yes, here".
/// "Not measured." if the runs that it compares are missing.
std::string verdict_on(const SmallGradients& measured);

}  // namespace tinymp::lab
