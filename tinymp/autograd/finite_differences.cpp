#include <tinymp/autograd/finite_differences.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/convert.h>
#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

namespace tinymp {
namespace {

void expect_checkable(const std::vector<Tensor>& inputs, const GradientCheckOptions& options) {
  expect(options.step > 0 && options.entries >= 0, "check_gradients: a step of ", options.step, " and ",
         options.entries, " entries; the step must be above 0, the entries 0 (all) or more");
  expect(!inputs.empty(), "check_gradients: there are no inputs");
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    expect(inputs[i].dtype() == DType::f64, "check_gradients: input ", i, " is ", inputs[i].dtype(),
           "; differences need f64");
    expect(inputs[i].requires_grad(), "check_gradients: input ", i, " does not require a gradient");
  }
}

/// Returns one weight for each value of y: a multiple of 1/8 from 1/2 to 2, with either sign. Every format
/// holds such weights exactly.
std::vector<double> weights_for(const Tensor& y) {
  Rng rng(0);
  std::vector<double> weights(static_cast<std::size_t>(y.size()));
  for (double& w : weights) {
    const std::uint64_t drawn = rng.below(26);  // 13 magnitudes, 2 signs
    w = (drawn % 2 == 0 ? 0.125 : -0.125) * static_cast<double>(4 + drawn / 2);
  }
  return weights;
}

/// The weighted sum of y as an f64 scalar on the tape.
Tensor weighted_sum(const Tensor& y, const std::vector<double>& weights) {
  const std::vector<double> values = y.to_doubles();
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) total += weights[i] * values[i];
  return record("weighted_sum", {y}, Tensor::from(Shape{}, std::span<const double>(&total, 1)),
                [y, weights](const Tensor&, const Needs&) {
                  Tensor dy = Tensor::like(y);
                  visit_dtype(y.dtype(), [&]<class T> {
                    std::transform(weights.begin(), weights.end(), dy.data<T>(), [](double w) {
                      if constexpr (std::same_as<T, double>) {
                        return w;
                      } else {
                        return converted<T>(static_cast<float>(w));
                      }
                    });
                  });
                  return std::vector{dy};
                });
}

/// Returns dloss/dinput for every input, by the tape; zeros for an input that f does not use.
std::vector<std::vector<double>> gradients_from_tape(const std::function<Tensor()>& f,
                                                     const std::vector<Tensor>& inputs,
                                                     std::vector<double>& weights) {
  for (const Tensor& x : inputs) x.clear_grad();
  Tape tape;
  const Tensor y = f();
  weights = weights_for(y);
  tape.backward(weighted_sum(y, weights));
  std::vector<std::vector<double>> gradients;
  for (const Tensor& x : inputs) {
    gradients.push_back(x.grad() ? x.grad().to_doubles()
                                 : std::vector<double>(static_cast<std::size_t>(x.size())));
    x.clear_grad();
  }
  return gradients;
}

/// Returns dloss/dvalue by central differences. It subtracts the values of y before it adds them up, so that
/// much of the rounding of a long sum cancels.
double gradient_from_differences(const std::function<Tensor()>& f, double& value, double step,
                                 const std::vector<double>& weights) {
  const double before = value;
  const double up = before + step, down = before - step;  // rounded: the distance is up - down, not 2 step
  value = up;
  const std::vector<double> above = f().to_doubles();
  value = down;
  const std::vector<double> below = f().to_doubles();
  value = before;
  double change = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) change += weights[i] * (above[i] - below[i]);
  return change / (up - down);
}

double distance(double tape, double differences) {
  const double error = std::fabs(tape - differences) / std::max(1.0, std::fabs(differences));
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

}  // namespace

GradientReport check_gradients(const std::function<Tensor()>& f, const std::vector<Tensor>& inputs,
                               GradientCheckOptions options) {
  expect_checkable(inputs, options);
  std::vector<double> weights;
  const std::vector<std::vector<double>> from_tape = gradients_from_tape(f, inputs, weights);

  GradientReport report;
  report.error = -1;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::int64_t size = inputs[i].size();
    const std::int64_t tries = options.entries == 0 ? size : std::min(size, options.entries);
    for (std::int64_t t = 0; t < tries; ++t) {
      const std::int64_t entry = t * size / tries;
      const double differences =
          gradient_from_differences(f, inputs[i].data<double>()[entry], options.step, weights);
      const double tape = from_tape[i][static_cast<std::size_t>(entry)];
      const double error = distance(tape, differences);
      ++report.checked;
      if (error > report.error) report = {error, i, entry, tape, differences, report.checked};
    }
  }
  report.error = std::max(report.error, 0.0);
  return report;
}

std::ostream& operator<<(std::ostream& out, const GradientReport& report) {
  return out << "worst of " << report.checked << " entries: input " << report.input << ", entry "
             << report.entry << ": tape " << report.from_tape << ", differences " << report.from_differences
             << ", error " << report.error;
}

}  // namespace tinymp
