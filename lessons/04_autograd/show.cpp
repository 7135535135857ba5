#include <fmt/format.h>
#include <kernels/kernels.h>
#include <lessons/04_autograd/model.h>
#include <lessons/04_autograd/show.h>
#include <tinymp/autograd/finite_differences.h>
#include <tinymp/base/rng.h>
#include <tinymp/data/loader.h>
#include <algorithm>
#include <cmath>
#include <sstream>

namespace tinymp::lab {
namespace {

Tensor drawn(Shape shape, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<double> values(static_cast<std::size_t>(shape.size()));
  for (double& v : values) v = rng.uniform(-1, 1);
  const Tensor x = Tensor::from(shape, std::span<const double>(values));
  x.set_requires_grad(true);
  return x;
}

/// relu written in a hurry: its backward passes the gradient on, also where x was below 0.
Tensor hasty_relu(const Tensor& x) {
  const Tensor y(x.shape(), x.dtype());
  kernels::unary(kernels::Unary::relu, x.view(), y.view());
  return record("hasty relu", {x}, y, [](const Tensor& dy, const Needs&) { return std::vector{dy}; });
}

}  // namespace

void show_tape(Lab& lab) {
  Rng rng(0);
  const CastMlp model(Casts::on_the_tape, rng);
  for (const Tensor& p : tensors(model.parameters())) p.set_requires_grad(true);
  const data::Batch batch = data::Loader(lab.data().train, 64, 0).next();
  Tape tape;
  const Tensor loss = cross_entropy(model(batch.images), batch.labels);
  std::ostringstream text;
  text << "The tape of a step, 64 images:\n" << tape;
  lab.say(text.str());
}

double show_gradient_checks(Lab& lab) {
  const Tensor x = drawn({4, 6}, 1), w = drawn({6, 3}, 2), b = drawn({3}, 3), logits = drawn({4, 3}, 4);
  const std::vector<std::int32_t> labels{0, 2, 1, 2};
  struct Check {
    const char* op;
    GradientReport report;
  };
  const Check checks[] = {
      {"matmul", check_gradients([&] { return matmul(x, w); }, {x, w})},
      {"add_bias", check_gradients([&] { return add_bias(logits, b); }, {logits, b})},
      {"relu", check_gradients([&] { return relu(x); }, {x})},
      {"cross_entropy", check_gradients([&] { return cross_entropy(logits, labels); }, {logits})},
  };
  lab.say("Backward against differences, in FP64:");
  double worst = 0;
  for (const auto& [op, report] : checks) {
    lab.say(fmt::format("  {:<14} {:>3} gradients, largest error {:.0e}", op, report.checked, report.error));
    worst = std::max(worst, report.error);
  }
  const GradientReport wrong = check_gradients([&] { return hasty_relu(x); }, {x});
  lab.say(fmt::format("  {:<14} {:>3} gradients: value {} is {:.2f}, tape {:.3f}, differences {:.3f}",
                      "hasty relu", wrong.checked, wrong.entry,
                      x.to_doubles()[static_cast<std::size_t>(wrong.entry)], wrong.from_tape,
                      wrong.from_differences));
  return worst;
}

void show_gradient_of_cast(Lab& lab) {
  const auto rounded = [](double v) {
    return static_cast<double>(static_cast<float>(half(static_cast<float>(v))));
  };
  const auto differences = [&](double value, int exponent) {
    const double step = std::ldexp(1.0, exponent);
    const double slope = (rounded(value + step) - rounded(value - step)) / (2 * step);
    lab.say(
        fmt::format("  differences at {:<8} a step of 2^{:<4} {:.3f}", concat(value, ","), exponent, slope));
  };
  lab.say("The slope of rounding to FP16, where halves lie 2^-12 apart:");
  differences(0.3, -17);
  differences(0.29993, -17);
  differences(0.3, -4);
  const Tensor x = Tensor::from(Shape{1}, std::vector<float>{0.3f});
  x.set_requires_grad(true);
  Tape tape;
  tape.backward(sum(cast(cast(x, DType::f16), DType::f32)));
  lab.say(fmt::format("  the tape{:<30} {:.3f}", "", x.grad().to_floats()[0]));
}

}  // namespace tinymp::lab
