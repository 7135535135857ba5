#pragma once

#include <tinymp/autograd/tape.h>
#include <functional>
#include <ostream>
#include <vector>

/// Compares the gradients of the tape with central differences, both in f64.
namespace tinymp {

struct GradientCheckOptions {
  /// How far each value moves up and down. 2^-17 is near the cube root of f64's precision, where the error of
  /// the difference (h^2) and the rounding error (2^-53 / h) are about equal. A function that rounds, such as
  /// cast(), needs a step that survives the rounding.
  double step = 0x1p-17;
  std::int64_t entries = 0;  ///< how many values of each input to try, evenly spread; 0: all of them
};

/// The entry where tape and differences differ most.
struct GradientReport {
  double error = 0;        ///< |tape - differences| / max(1, |differences|); infinite when one is not finite
  std::size_t input = 0;   ///< the index of the input, from 0
  std::int64_t entry = 0;  ///< the index of the value in that input, row by row
  double from_tape = 0;    ///< dloss/dvalue by backward()
  double from_differences = 0;
  std::int64_t checked = 0;  ///< how many values were tried
};
std::ostream& operator<<(std::ostream& out, const GradientReport& report);

/// Runs f once under a tape. Then runs f twice for each value of the inputs, moved up and down by the step.
///
///   check_gradients([&] { return tanh(x); }, {x}).error < 1e-6
///
/// f computes a tensor of any shape and format from the inputs. The loss is a weighted sum of its values (a
/// plain sum would not notice that two gradients are swapped). Afterwards the inputs have their old values
/// and no gradients. Choose values where f is smooth: relu has no derivative at 0. Throws Error when an input
/// is not f64 or does not require a gradient, and when f depends on no input.
GradientReport check_gradients(const std::function<Tensor()>& f, const std::vector<Tensor>& inputs,
                               GradientCheckOptions options = {});

}  // namespace tinymp
