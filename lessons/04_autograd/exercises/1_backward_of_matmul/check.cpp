// Exercise 4.1: backward of a matrix product, asked through matmul() and linear() on a tape. The oracle is
// two loops in double over small whole numbers: every sum of them is exact in every format, so one bit off
// is wrong.

#include <lessons/04_autograd/exercises/1_backward_of_matmul/matrix.h>
#include <lessons/classroom/judge.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/base/error.h>
#include <tinymp/ops/ops.h>
#include <iomanip>
#include <limits>
#include <sstream>

namespace tinymp::exercise {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Case {
  std::int64_t B, I, O;
  bool x_wants = true, w_wants = true;
  DType dtype = DType::f32, sums = DType::f32;
  bool by_linear = false;
  Values x{}, w{}, dy{};  // drawn where they are empty
};

std::string shown(double v) {
  std::ostringstream text;
  text << std::setprecision(17) << v;
  return text.str();
}

Tensor tensor(std::int64_t rows, std::int64_t columns, const Values& values, DType dtype) {
  if (dtype == DType::f64) return Tensor::from({rows, columns}, std::span<const double>(values));
  return Tensor::from({rows, columns}, std::vector<float>(values.begin(), values.end()), dtype);
}

/// Keeps what the op has handed back, also what nobody needs.
struct Listener final : Observer {
  std::vector<Tensor> gradients;
  void forward(const Op&, const std::vector<Tensor>&, const Tensor&) override {}
  void backward(const std::string& op, const std::vector<Tensor>&, const Tensor&, const Tensor&,
                const std::vector<Tensor>& handed) override {
    if (op != "given") gradients = handed;
  }
};

struct Asked {
  Tensor x, w, dy;
  std::vector<Tensor> gradients;
  std::string refused;  ///< by the tape
};

Asked ask(const Case& c) {
  Asked asked{tensor(c.B, c.I, c.x, c.dtype),
              tensor(c.I, c.O, c.w, c.dtype),
              tensor(c.B, c.O, c.dy, c.dtype),
              {},
              ""};
  asked.x.set_requires_grad(c.x_wants);
  asked.w.set_requires_grad(c.w_wants);
  Listener listener;
  Tape tape(&listener);
  const Tensor bias = tensor(1, c.O, Values(static_cast<std::size_t>(c.O)), c.dtype).viewed_as({c.O});
  const Tensor y = c.by_linear ? linear(asked.x, asked.w, bias, {.accumulate = c.sums})
                               : matmul(asked.x, asked.w, {.accumulate = c.sums});
  const Tensor loss = record("given", {y}, Tensor::from({}, std::vector<float>{0}),
                             [&](const Tensor&, const Needs&) { return std::vector{asked.dy}; });
  try {
    tape.backward(loss);
  } catch (const Error& error) {
    asked.refused = error.what();
  }
  asked.gradients = listener.gradients;
  return asked;
}

std::string shapes(const Case& c) {
  return concat("\n  x", Shape{c.B, c.I}, ", w", Shape{c.I, c.O}, ", dy", Shape{c.B, c.O}, " in ", c.dtype,
                ", sums in ", c.sums);
}

std::string wanted(const Case& c) {
  return std::string("\n  needs(0) = ") + (c.x_wants ? "true" : "false") +
         ", needs(1) = " + (c.w_wants ? "true" : "false");
}

// ---- What people write, and how it gives itself away.

std::string why_dx(const Case& c, const Values& yours, const Matrix& x, const Matrix& w, const Matrix& dy) {
  const Matrix right = times(dy, w.transposed());
  if (c.I == c.O && same(yours, times(dy, w).values))
    return "dx is dy . w here; it has to be dy . w^T. Where w is square both fit, and only the numbers tell.";
  if (c.B == c.I && same(yours, times(x.transposed(), dy).values))
    return "dx and dw have changed places: first dx, then dw.";
  if (same(yours, right.transposed().values)) return "dx came out transposed: dy . w^T, not w . dy^T.";
  if (same(yours, divided(right, c.B).values))
    return "dx was divided by the batch: the mean is the loss's affair, and dy has it already.";
  return "dx is not dy . w^T.";
}

std::string why_dw(const Case& c, const Values& yours, const Matrix& x, const Matrix& w, const Matrix& dy) {
  const Matrix right = times(x.transposed(), dy);
  if (c.B == c.I && same(yours, times(x, dy).values))
    return "dw is x . dy here; it has to be x^T . dy. Where x is square both fit, and only the numbers tell.";
  if (c.I == c.O && same(yours, times(dy, w.transposed()).values))
    return "dx and dw have changed places: first dx, then dw.";
  if (same(yours, right.transposed().values))
    return "dw came out transposed: x^T . dy, not dy^T . x, has the shape of w.";
  if (same(yours, divided(right, c.B).values))
    return "dw was divided by the batch: it is a sum over the batch. The mean is the loss's affair, and dy "
           "has "
           "it already.";
  return "dw is not x^T . dy.";
}

/// The first place where they differ.
std::string difference(const char* name, std::int64_t columns, const Values& right, const Values& yours) {
  std::size_t i = 0;
  while (i < right.size() && same({right[i]}, {yours[i]})) ++i;
  const auto at = static_cast<std::int64_t>(i);
  return concat("\n  ", name, "[", at / columns, ",", at % columns, "]\n  expected = ") + shown(right[i]) +
         "\n  yours    = " + shown(yours[i]);
}

void expect_untouched(Judge& judge, const Case& c, const char* name, const Tensor& now,
                      const Values& before) {
  judge.expect(same(now.to_doubles(), before), [&] {
    return std::string(name) +
           " was written over. It belongs to others, too: what you compute goes into new " + "tensors." +
           shapes(c) + difference(name, now.shape()[1], before, now.to_doubles());
  });
}

void expect_accepted(Judge& judge, const Case& c, const Asked& asked) {
  judge.expect(asked.refused.empty(), [&] {
    const std::string why =
        asked.refused.find("gradient is not") == std::string::npos ? "Backward threw."
        : c.x_wants && c.w_wants
            ? "No gradient came back that fits its tensor: dx has the shape and the format of x, dw those of "
              "w."
            : "What is asked for did not come back: needs(0) is about dx, needs(1) about dw.";
    return why + shapes(c) + wanted(c) +
           "\n  expected = " + (c.x_wants ? concat("dx", Shape{c.B, c.I}, " ") : "") +
           (c.w_wants ? concat("dw", Shape{c.I, c.O}) : "") + "\n  yours    = " + asked.refused;
  });
}

void expect_only_needed(Judge& judge, const Case& c, const Asked& asked) {
  judge.expect((c.x_wants || !asked.gradients[0]) && (c.w_wants || !asked.gradients[1]), [&] {
    return std::string(
               "A gradient that nobody needs was computed. The first layer's images want none: there ") +
           "it is a third of the step." + shapes(c) + wanted(c) + "\n  expected = an empty " +
           (c.x_wants ? "dw" : "dx") + "\n  yours    = one with numbers in it";
  });
}

void expect_gradients(Judge& judge, Case c, std::uint32_t seed = 1) {
  if (c.x.empty())
    c.x = drawn(c.B * c.I, seed), c.w = drawn(c.I * c.O, seed + 1), c.dy = drawn(c.B * c.O, seed + 2);
  const Asked asked = ask(c);
  expect_accepted(judge, c, asked);
  expect_untouched(judge, c, "dy", asked.dy, c.dy);
  expect_untouched(judge, c, "x", asked.x, c.x);
  expect_untouched(judge, c, "w", asked.w, c.w);
  expect_only_needed(judge, c, asked);
  const Matrix x{c.B, c.I, c.x}, w{c.I, c.O, c.w}, dy{c.B, c.O, c.dy};
  const Matrix dx = times(dy, w.transposed()), dw = times(x.transposed(), dy);
  if (c.x_wants) {
    const Values yours = asked.gradients[0].to_doubles();
    judge.expect(same(yours, dx.values), [&] {
      return why_dx(c, yours, x, w, dy) + shapes(c) + difference("dx", c.I, dx.values, yours);
    });
  }
  if (c.w_wants) {
    const Values yours = asked.gradients[1].to_doubles();
    judge.expect(same(yours, dw.values), [&] {
      return why_dw(c, yours, x, w, dy) + shapes(c) + difference("dw", c.O, dw.values, yours);
    });
  }
}

/// 4100 times 1: a running sum in FP16 stops at 2048, for 2049 is no half.
void expect_sums(Judge& judge, DType sums) {
  constexpr std::int64_t n = 4100;
  const double right = sums == DType::f16 ? 2048 : 4100;
  const Values one{1}, ones(n, 1);
  const Case many_columns{1, 1, n, true, true, DType::f16, sums, false, one, ones, ones};
  const Case many_rows{n, 1, 1, true, true, DType::f16, sums, false, ones, one, ones};
  const Asked long_dx = ask(many_columns), long_dw = ask(many_rows);
  expect_accepted(judge, many_columns, long_dx);
  expect_accepted(judge, many_rows, long_dw);
  for (const auto& [name, yours] : {std::pair("dx", long_dx.gradients[0]), {"dw", long_dw.gradients[1]}}) {
    judge.expect(yours.item() == right, [&, name = name, yours = yours] {
      return concat("The running sum of ", name, " is not kept as forward kept its own: pass `sums` on.\n  ",
                    n, " times 1, sums in ", sums, "\n  expected = ") +
             shown(right) + "\n  yours    = " + shown(yours.item());
    });
  }
}

void expect_f64(Judge& judge) {  // 4097^2 = 2^24 + 2^13 + 1 is no float
  expect_gradients(judge, {1, 1, 1, true, true, DType::f64, DType::f64, false, {4097}, {4097}, {4097}});
}

/// An overflow has to reach the loss scaler, and a NaN whoever looks for it.
void expect_not_finite(Judge& judge) {
  const Case overflows{1, 1, 1, true, true, DType::f16, DType::f32, false, {2}, {300}, {300}};
  const Case infinite{1, 1, 2, true, true, DType::f32, DType::f32, false, {2}, {0, 1}, {infinity, 1}};
  const Asked large = ask(overflows), nan = ask(infinite);
  expect_accepted(judge, overflows, large);
  expect_accepted(judge, infinite, nan);
  const double dx = large.gradients[0].item(), of_nan = nan.gradients[0].item();
  judge.expect(dx == infinity, [&] {
    return "300 . 300 is beyond 65504: in FP16 dx is infinite, and the loss scaler wants to see it.\n  "
           "expected "
           "= inf\n  yours    = " +
           shown(dx);
  });
  judge.expect(of_nan != of_nan, [&] {
    return "Infinity times 0 is NaN, and has to come out as NaN.\n  expected = nan\n  yours    = " +
           shown(of_nan);
  });
}

/// y = w . w: both gradients go to one tensor, and the tape adds them.
void expect_squared(Judge& judge) {
  const Values values{1, 2, 3, 4}, weights{1, -2, 5, 3};
  const Tensor w = tensor(2, 2, values, DType::f32);
  w.set_requires_grad(true);
  {
    Tape tape;
    const Tensor y = matmul(w, w);
    tape.backward(
        record("given", {y}, Tensor::from({}, std::vector<float>{0}),
               [&](const Tensor&, const Needs&) { return std::vector{tensor(2, 2, weights, DType::f32)}; }));
  }
  const Matrix m{2, 2, values}, dy{2, 2, weights};
  Values right = times(dy, m.transposed()).values;
  const Values dw = times(m.transposed(), dy).values;
  for (std::size_t i = 0; i < right.size(); ++i) right[i] += dw[i];
  const Values yours = w.grad().to_doubles();
  judge.expect(same(yours, right), [&] {
    return "w . w: dw is w^T . dy + dy . w^T, from both places." + difference("dw", 2, right, yours);
  });
}

}  // namespace

void check(Judge& judge) {
  expect_gradients(judge, {1, 1, 1, true, true, DType::f32, DType::f32, false, {2}, {3}, {5}});
  expect_gradients(judge, {2, 2, 2});
  expect_gradients(judge, {2, 2, 2, false, true});
  expect_gradients(judge, {2, 2, 2, true, false});
  expect_gradients(judge, {2, 3, 5});
  for (const DType sums : {DType::f32, DType::f16}) expect_sums(judge, sums);
  expect_f64(judge);
  expect_not_finite(judge);
  expect_squared(judge);
  std::uint32_t seed = 10;
  const std::vector<std::array<std::int64_t, 3>> shapes_to_try{{1, 1, 3}, {1, 3, 1}, {3, 1, 1},  {2, 3, 5},
                                                               {5, 3, 2}, {3, 3, 4}, {3, 4, 3},  {4, 3, 3},
                                                               {3, 7, 4}, {0, 3, 2}, {17, 33, 9}};
  for (const auto& [B, I, O] : shapes_to_try) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
      for (const bool by_linear : {false, true}) {
        for (const auto& [x_wants, w_wants] : {std::pair(true, true), {false, true}, {true, false}}) {
          if (B == 0 && dtype != DType::f32) continue;
          const DType sums = dtype == DType::f64                ? DType::f64
                             : dtype == DType::f16 && by_linear ? DType::f16
                                                                : DType::f32;
          expect_gradients(judge, {B, I, O, x_wants, w_wants, dtype, sums, by_linear}, seed += 7);
        }
      }
    }
  }
  expect_gradients(judge, {70, 300, 130}, seed);  // several tiles
}

}  // namespace tinymp::exercise
