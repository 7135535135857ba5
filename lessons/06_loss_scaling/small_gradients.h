#pragma once

#include <lessons/06_loss_scaling/autoencoder.h>
#include <string>
#include <vector>

/// What the runs of the autoencoder say, for lesson 06 and quickstart.
namespace tinymp::lab {

/// One value a seed.
struct SmallGradients {
  std::vector<double> fp32{}, unscaled{}, static_scaled{}, dynamic_scaled{};  ///< test MSE
  double flushed = train::not_measured;  ///< share of gradients that S = 1 flushed to zero
};
SmallGradients measured_small_gradients(const Lab& lab);

/// Two sentences. Their words follow the figures: they say the opposite when the figures do.
std::string verdict_on(const SmallGradients& measured);

}  // namespace tinymp::lab
