#pragma once

#include <tinymp/autograd/tape.h>
#include <functional>
#include <ostream>
#include <vector>

/// Is a derivative right? The tape's answer against central differences, both in f64.
namespace tinymp {

struct GradientCheckOptions {
  /// How far a value is moved each way. 2^-17 is near the cube root of f64's precision, where the error of
  /// the difference (h^2) and that of rounding (2^-53 / h) are about equal. A function that rounds, as cast()
  /// does, wants a step that survives the rounding.
  double step = 0x1p-17;
  std::int64_t entries = 0;  ///< how many values of each input are tried, evenly spread; 0: all of them
};

/// What was found, and the entry where the two differ most.
struct GradientReport {
  double error = 0;        ///< |tape - differences| / max(1, |differences|); infinite when one is not finite
  std::size_t input = 0;   ///< the number of the input, from 0
  std::int64_t entry = 0;  ///< and of the value in it, row by row
  double from_tape = 0;    ///< dloss/dvalue by backward()
  double from_differences = 0;
  std::int64_t checked = 0;  ///< values tried in all
};
std::ostream& operator<<(std::ostream& out, const GradientReport& report);

/// Runs f once under a tape, and twice for each value of the inputs, moved up and down by the step.
///
///   check_gradients([&] { return tanh(x); }, {x}).error < 1e-6
///
/// f computes a tensor of any shape and format out of the inputs; its values, each with a weight of its own,
/// add up to the loss (a plain sum would not see two gradients that have changed places). The inputs are put
/// back as they were, their gradients forgotten. Use values at which f is smooth: relu has no derivative at
/// 0. Throws Error when an input is not f64 or does not require a gradient, or when f does not depend on any.
GradientReport check_gradients(const std::function<Tensor()>& f, const std::vector<Tensor>& inputs,
                               GradientCheckOptions options = {});

}  // namespace tinymp
