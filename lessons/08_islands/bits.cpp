#include <fmt/format.h>
#include <lessons/08_islands/questions.h>
#include <tinymp/numeric/half.h>
#include <cmath>

namespace tinymp::lab {
namespace {

using Function = Tensor (*)(const Tensor&);

Tensor itself(const Tensor& x) { return x; }

/// What `op` makes of one number, and how the loss would change with the number: all in `format`.
struct Answer {
  float value, slope;
};
Answer answer(Function op, float x, DType format) {
  const Tensor number = Tensor::from({1}, std::vector<float>{x}, format).set_requires_grad(true);
  Tape tape;
  const Tensor y = op(number);
  tape.backward(sum(y));
  return {y.to_floats()[0], number.grad() ? number.grad().to_floats()[0] : 1.0f};
}

std::string bits_of(float x) { return to_bit_string(half(x)); }

}  // namespace

void show_bits(Lab& lab) {
  lab.say("                                FP32        FP16   s eeeee ffffffffff");
  const auto row = [&](const char* what, float wide, float narrow) {
    lab.say(fmt::format("{:<24} {:>11.6g} {:>11.6g}   {}", what, wide, narrow, bits_of(narrow)));
    return narrow;
  };
  const auto value = [&](const char* what, Function op, float x) {
    return row(what, answer(op, x, DType::f32).value, answer(op, x, DType::f16).value);
  };
  value("exp(11)", tinymp::exp, 11);
  const float overflow = value("exp(12)", tinymp::exp, 12);
  value("exp(-17)", tinymp::exp, -17);
  const float share = value("exp(-18)", tinymp::exp, -18);
  const float pole =
      row("log(exp(-18))", answer(tinymp::log, answer(tinymp::exp, -18, DType::f32).value, DType::f32).value,
          answer(tinymp::log, share, DType::f16).value);
  const float slope = row("slope of log at 1e-5", answer(tinymp::log, 1e-5f, DType::f32).slope,
                          answer(tinymp::log, 1e-5f, DType::f16).slope);
  const float epsilon = value("epsilon 1e-8", itself, 1e-8f);
  value("epsilon 1e-4", itself, 1e-4f);
  const float moment = value("0.001 g^2, g = 0.001", itself, 1e-9f);
  lab.claim(std::isinf(overflow) && std::isinf(slope) && std::isinf(pole) && epsilon == 0 && moment == 0,
            "in FP16 exp(12), the log of exp(-18) and its slope at 1e-5 are infinite; 1e-8 and 1e-9 are 0",
            Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
