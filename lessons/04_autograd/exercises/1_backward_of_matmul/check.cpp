// Exercise 4.1: backward of a matrix product, asked through matmul() and linear() on a tape. The oracle is
// two loops in double over small whole numbers: every sum of them is exact in every format, so one bit off
// is wrong.

#include <lessons/04_autograd/exercises/1_backward_of_matmul/matrix.h>
#include <lessons/lab/classroom/judge.h>
#include <lessons/lab/classroom/tensors.h>
#include <tinymp/base/error.h>
#include <algorithm>
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

std::string shapes(const Case& c) {
  return concat("\n  x", Shape{c.B, c.I}, ", w", Shape{c.I, c.O}, ", dy", Shape{c.B, c.O}, " in ", c.dtype,
                ", sums in ", c.sums);
}

std::string wanted(const Case& c) {
  return std::string("\n  needs(0) = ") + (c.x_wants ? "true" : "false") +
         ", needs(1) = " + (c.w_wants ? "true" : "false");
}

/// A tensor that came back. `is_there` is false where there is none, or not that of this shape and format.
struct Received {
  bool is_there = false;
  Values values{};
};

Received received(Message& reply, Shape shape, DType dtype) {
  const auto its_dtype = reply.take<std::int32_t>();
  const std::span<const std::int64_t> extents = reply.all<std::int64_t>();
  Values values = reply.take_all<double>();
  const bool fits = its_dtype == static_cast<std::int32_t>(dtype) && std::ranges::equal(extents, shape) &&
                    static_cast<std::int64_t>(values.size()) == shape.size();
  return {fits, std::move(values)};
}

struct Asked {
  Received x, w, dy;
  bool some_dx, some_dw;  ///< something came back, of whatever shape
  Received dx, dw;
  std::string refused;  ///< by the tape
};

Asked ask(Judge& judge, const Case& c) {
  const Shape x{c.B, c.I}, w{c.I, c.O}, dy{c.B, c.O};
  Message request;
  request.put(std::int32_t{0});
  put_tensor(request, tensor_of(x, c.x, c.dtype));
  put_tensor(request, tensor_of(w, c.w, c.dtype));
  put_tensor(request, tensor_of(dy, c.dy, c.dtype));
  request.put(c.x_wants ? 1 : 0).put(c.w_wants ? 1 : 0);
  request.put(static_cast<std::int32_t>(c.sums)).put(c.by_linear ? 1 : 0);
  Message reply = judge.ask(request, [&] { return shapes(c).substr(1) + wanted(c); });
  Asked asked{};
  asked.refused = reply.text();
  asked.x = received(reply, x, c.dtype);
  asked.w = received(reply, w, c.dtype);
  asked.dy = received(reply, dy, c.dtype);
  asked.some_dx = reply.take<std::int32_t>() != 0;
  if (asked.some_dx) asked.dx = received(reply, x, c.dtype);
  asked.some_dw = reply.take<std::int32_t>() != 0;
  if (asked.some_dw) asked.dw = received(reply, w, c.dtype);
  const bool all = (!c.x_wants || asked.dx.is_there) && (!c.w_wants || asked.dw.is_there);
  if (asked.refused.empty() && !all) asked.refused = "a gradient is not that of its tensor";
  return asked;
}

// ---- What people write, and how it gives itself away.

std::string why_dx(const Case& c, const Values& yours, const Matrix& x, const Matrix& w, const Matrix& dy) {
  const Matrix right = times(dy, w.transposed());
  if (c.I == c.O && same(yours, times(dy, w).values))
    return "Your code gives dy . w as dx; it has to be dy . w^T. Where w is square both fit, and only the "
           "numbers tell.";
  if (c.B == c.I && same(yours, times(x.transposed(), dy).values))
    return "Your code has dx and dw in each other's place: first dx, then dw.";
  if (same(yours, right.transposed().values))
    return "Your code gives dx transposed, as w . dy^T; it is dy . w^T.";
  if (same(yours, divided(right, c.B).values))
    return "Your code divides dx by the batch: the mean is the loss's affair, and dy has it already.";
  return "Your code gives another dx than dy . w^T.";
}

std::string why_dw(const Case& c, const Values& yours, const Matrix& x, const Matrix& w, const Matrix& dy) {
  const Matrix right = times(x.transposed(), dy);
  if (c.B == c.I && same(yours, times(x, dy).values))
    return "Your code gives x . dy as dw; it has to be x^T . dy. Where x is square both fit, and only the "
           "numbers tell.";
  if (c.I == c.O && same(yours, times(dy, w.transposed()).values))
    return "Your code has dx and dw in each other's place: first dx, then dw.";
  if (same(yours, right.transposed().values))
    return "Your code gives dw transposed, as dy^T . x; x^T . dy has the shape of w.";
  if (same(yours, divided(right, c.B).values))
    return "Your code divides dw by the batch: dw is a sum over it. The mean is the loss's affair, and dy "
           "has it already.";
  return "Your code gives another dw than x^T . dy.";
}

/// The first place where they differ.
std::string difference(const char* name, std::int64_t columns, const Values& right, const Values& yours) {
  std::size_t i = 0;
  while (i < right.size() && same({right[i]}, {yours[i]})) ++i;
  const auto at = static_cast<std::int64_t>(i);
  return concat("\n  ", name, "[", at / columns, ",", at % columns, "]\n  expected = ") + shown(right[i]) +
         "\n  yours    = " + shown(yours[i]);
}

void expect_untouched(Judge& judge, const Case& c, const char* name, std::int64_t columns,
                      const Received& now, const Values& before) {
  judge.expect(now.is_there && same(now.values, before), [&] {
    return concat("Your code writes over ", name,
                  ", which belongs to others, too: what you compute goes into new tensors.") +
           shapes(c) + (now.is_there ? difference(name, columns, before, now.values) : "");
  });
}

void expect_accepted(Judge& judge, const Case& c, const Asked& asked) {
  judge.expect(asked.refused.empty(), [&] {
    const std::string why =
        asked.refused.find("gradient is not") == std::string::npos ? "Your backward threw."
        : c.x_wants && c.w_wants
            ? "Your code gives no gradient that fits its tensor: dx has the shape and the format of x, dw "
              "those of w."
            : "Your code does not give what is asked for: needs(0) is about dx, needs(1) about dw.";
    return why + shapes(c) + wanted(c) +
           "\n  expected = " + (c.x_wants ? concat("dx", Shape{c.B, c.I}, " ") : "") +
           (c.w_wants ? concat("dw", Shape{c.I, c.O}) : "") + "\n  yours    = " + asked.refused;
  });
}

void expect_only_needed(Judge& judge, const Case& c, const Asked& asked) {
  judge.expect((c.x_wants || !asked.some_dx) && (c.w_wants || !asked.some_dw), [&] {
    return "Your code computes a gradient that nobody needs. The first layer's images want none: there it is "
           "a third of the step." +
           shapes(c) + wanted(c) + "\n  expected = an empty " + (c.x_wants ? "dw" : "dx") +
           "\n  yours    = one with numbers in it";
  });
}

void expect_gradients(Judge& judge, Case c) {
  if (c.x.empty())
    c.x = drawn(judge, c.B * c.I), c.w = drawn(judge, c.I * c.O), c.dy = drawn(judge, c.B * c.O);
  const Asked asked = ask(judge, c);
  expect_accepted(judge, c, asked);
  expect_untouched(judge, c, "dy", c.O, asked.dy, c.dy);
  expect_untouched(judge, c, "x", c.I, asked.x, c.x);
  expect_untouched(judge, c, "w", c.O, asked.w, c.w);
  expect_only_needed(judge, c, asked);
  const Matrix x{c.B, c.I, c.x}, w{c.I, c.O, c.w}, dy{c.B, c.O, c.dy};
  const Matrix dx = times(dy, w.transposed()), dw = times(x.transposed(), dy);
  if (c.x_wants) {
    const Values& yours = asked.dx.values;
    judge.expect(same(yours, dx.values), [&] {
      return why_dx(c, yours, x, w, dy) + shapes(c) + difference("dx", c.I, dx.values, yours);
    });
  }
  if (c.w_wants) {
    const Values& yours = asked.dw.values;
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
  const Asked long_dx = ask(judge, many_columns), long_dw = ask(judge, many_rows);
  expect_accepted(judge, many_columns, long_dx);
  expect_accepted(judge, many_rows, long_dw);
  for (const auto& [name, yours] : {std::pair("dx", long_dx.dx.values[0]), {"dw", long_dw.dw.values[0]}}) {
    judge.expect(yours == right, [&, name = name, yours = yours] {
      return concat("Your code keeps the running sum of ", name,
                    " otherwise than forward kept its own: pass `sums` on.\n  ", n, " times 1, sums in ",
                    sums, "\n  expected = ") +
             shown(right) + "\n  yours    = " + shown(yours);
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
  const Asked large = ask(judge, overflows), nan = ask(judge, infinite);
  expect_accepted(judge, overflows, large);
  expect_accepted(judge, infinite, nan);
  const double dx = large.dx.values[0], of_nan = nan.dx.values[0];
  judge.expect(dx == infinity, [&] {
    return "Your code hides an overflow. 300 . 300 is beyond 65504: in FP16 dx is infinite, and the loss "
           "scaler wants to see it.\n  expected = inf\n  yours    = " +
           shown(dx);
  });
  judge.expect(of_nan != of_nan, [&] {
    return "Your code hides a NaN: infinity times 0 is NaN, and has to come out as NaN.\n  expected = nan\n  "
           "yours    = " +
           shown(of_nan);
  });
}

/// y = w . w: both gradients go to one tensor, and the tape adds them.
void expect_squared(Judge& judge) {
  const Values values{1, 2, 3, 4}, weights{1, -2, 5, 3};
  Message request;
  request.put(std::int32_t{1});
  put_tensor(request, tensor_of({2, 2}, values, DType::f32));
  put_tensor(request, tensor_of({2, 2}, weights, DType::f32));
  Message reply = judge.ask(request, [] { return std::string("  y = w . w"); });
  const Received grad = received(reply, {2, 2}, DType::f32);
  const Matrix m{2, 2, values}, dy{2, 2, weights};
  Values right = times(dy, m.transposed()).values;
  const Values dw = times(m.transposed(), dy).values;
  for (std::size_t i = 0; i < right.size(); ++i) right[i] += dw[i];
  judge.expect(grad.is_there && same(grad.values, right), [&] {
    return "Your code gives a wrong gradient of w . w: dw is w^T . dy + dy . w^T, from both places." +
           (grad.is_there ? difference("dw", 2, right, grad.values) : "");
  });
}

}  // namespace

void check(Judge& judge) {
  expect_gradients(judge, {1, 1, 1, true, true, DType::f32, DType::f32, false, {2}, {3}, {5}});
  for (const auto& [x_wants, w_wants] : {std::pair(true, true), {false, true}, {true, false}})
    expect_gradients(judge, {2, 2, 2, x_wants, w_wants, DType::f32, DType::f32, false, fixed(4, 1),
                             fixed(4, 2), fixed(4, 3)});
  expect_gradients(
      judge, {2, 3, 5, true, true, DType::f32, DType::f32, false, fixed(6, 1), fixed(15, 2), fixed(10, 3)});
  for (const DType sums : {DType::f32, DType::f16}) expect_sums(judge, sums);
  expect_f64(judge);
  expect_not_finite(judge);
  expect_squared(judge);
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
          expect_gradients(judge, {B, I, O, x_wants, w_wants, dtype, sums, by_linear});
        }
      }
    }
  }
  expect_gradients(judge, {70, 300, 130});  // several tiles
}

}  // namespace tinymp::exercise
