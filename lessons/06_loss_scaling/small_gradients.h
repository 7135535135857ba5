#pragma once

#include <lessons/06_loss_scaling/autoencoder.h>
#include <string>
#include <vector>

/// The results of the autoencoder's runs in numbers and words, for lesson 06 and quickstart.
namespace tinymp::lab {

/// Each list has one value for each seed. `flushed` is one number, the mean over the measured steps of all seeds.
struct SmallGradients {
  std::vector<double> fp32{}, unscaled{}, static_scaled{}, dynamic_scaled{};  ///< test MSE
  double flushed = train::not_measured;  ///< share of gradients that S = 1 flushed to zero
};
SmallGradients measured_small_gradients(const Lab& lab);

/// Returns a verdict in words. It begins with "No", "In part" or "Yes, here", as the measured numbers say. It is
/// "Not measured." if FP32 or S = 1 was not run, and "No answer: ..." if FP32 itself ended in NaN.
std::string verdict_on(const SmallGradients& measured);

}  // namespace tinymp::lab
