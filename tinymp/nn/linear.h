#pragma once

#include <tinymp/base/rng.h>
#include <tinymp/nn/first_values.h>
#include <tinymp/nn/module.h>
#include <tinymp/numeric/recipe.h>
#include <tinymp/ops/ops.h>

namespace tinymp::nn {

/// The range of the first weights: uniform in +- gain / sqrt(inputs).
inline constexpr float gain_default = 1.0f;  ///< PyTorch's default for a linear layer
/// sqrt 6: keeps the variance through relu (He et al. 2015, eq. 10)
inline constexpr float gain_he = 2.44948974f;

/// y = x . weight + bias      (B,O) = (B,I)(I,O) + (O)
struct Linear {
  Tensor weight;  ///< (I,O), recipe.compute
  Tensor bias;    ///< (O), uniform in +- 1 / sqrt(inputs) at first
  DType accumulate;

  /// The same rng gives the same weights under every recipe, except for rounding.
  Linear(std::int64_t inputs, std::int64_t outputs, const Recipe& recipe, Rng& rng,
         float gain = gain_default);

  /// Returns f(y) when an activation f is given, else y.
  Tensor operator()(const Tensor& x, std::optional<Activation> f = {}) const {
    return linear(x, weight, bias, {accumulate, f});
  }

  /// "layer 2": "layer 2 weight", "... bias"
  std::vector<Parameter> parameters(const std::string& layer) const;
};

}  // namespace tinymp::nn
