// Exercise 4.2: relu and its backward, on all 65,536 halves and on floats and doubles between them, and on
// some of any bits. The oracle reads the bits: a sign, and whether anything but zeros follows it.

#include <lessons/lab/classroom/judge.h>
#include <tinymp/numeric/half_codec.h>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace tinymp::exercise {
namespace {

std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }
std::uint64_t bits_of(double x) { return std::bit_cast<std::uint64_t>(x); }
bool is_nan(float x) { return (bits_of(x) & 0x7fff'ffff) > 0x7f80'0000; }
bool is_nan(double x) { return (bits_of(x) << 1 >> 1) > 0x7ff0'0000'0000'0000; }
bool has_sign(float x) { return bits_of(x) >> 31 != 0; }
bool has_sign(double x) { return bits_of(x) >> 63 != 0; }

template <class C>
bool above_0(C x) {
  return !is_nan(x) && !has_sign(x) && bits_of(x) != 0;
}

template <class C>
C y_of(C x) {
  return is_nan(x) || above_0(x) ? x : C(0);
}

template <class C>
C dx_of(C y, C dy) {
  return is_nan(y) || above_0(y) ? dy : C(0);
}

/// Bit for bit; any NaN is as good as another.
template <class C>
bool same(C a, C b) {
  return bits_of(a) == bits_of(b) || (is_nan(a) && is_nan(b));
}

// ---- What people write, and how it gives itself away.

template <class C>
const char* why_forward(C x, C yours) {
  if (is_nan(x))
    return "Your code hides NaN: max(NaN, 0) is 0, and so is a question that NaN answers with no.";
  if (has_sign(yours) && yours == 0) return "Your code lets -0 stay -0: what is not above 0 becomes +0.";
  if (same(yours, x)) return "Your code hands x on as it is, below 0 too.";
  if (has_sign(x) && yours != 0)
    return "Your code lets a part of x, or its size, leak through below 0: there relu is 0.";
  return "Your code does not give the larger of x and 0.";
}

template <class C>
const char* why_backward(C y, C dy, C yours) {
  if (is_nan(y)) return "Your code does not let dy pass where y is NaN: a gradient of 0 would hide the NaN.";
  if (is_nan(yours) && !is_nan(dy))
    return "Your code multiplies, and 0 times infinity is NaN: choose between dy and 0.";
  if (y == 0 && is_nan(dy)) return "Your code multiplies, and 0 times NaN is NaN: choose between dy and 0.";
  if (y == 0 && has_sign(yours) && yours == 0)
    return "Your code gives -0, which a product with 0 leaves behind: choose between dy and 0, do not "
           "multiply.";
  if (y == 0 && same(yours, dy))
    return "Your code hands the gradient on where y is 0. That is everywhere where x was not above 0.";
  if (above_0(y) && same(yours, y)) return "Your code gives y back instead of dy.";
  if (above_0(y) && same(yours, C(1)))
    return "Your code gives the slope, 1; the chain rule multiplies it with dy.";
  if (above_0(y) && same(yours, y * dy))
    return "Your code multiplies dy with y: the slope above 0 is 1, however large y is.";
  if (above_0(y) && yours == 0)
    return "Your code stops dy where y is above 0: there it passes, whatever its sign.";
  return "Your code does not give the gradient of relu.";
}

std::string shown(float v) { return decimal(v); }
std::string shown(double v) { return decimal(static_cast<float>(v)); }

/// Forward of each x, and backward of each y with its dy.
template <class C>
struct Cases {
  std::vector<C> x, y, dy;

  void forward(C of) { x.push_back(of); }
  void backward(C of, C with) {
    y.push_back(of);
    dy.push_back(with);
  }
};

template <class C>
void expect_right(Judge& judge, const Cases<C>& cases) {
  Message reply =
      judge.ask(Message().put(std::uint64_t{sizeof(C)}).put_all(cases.x).put_all(cases.y).put_all(cases.dy));
  const auto forward = reply.all<C>(cases.x.size()), backward = reply.all<C>(cases.y.size());
  for (std::size_t i = 0; i < forward.size(); ++i) {
    const C x = cases.x[i], yours = forward[i], right = y_of(x);
    judge.expect(same(yours, right), [&] {
      return why_forward(x, yours) + ("\n  forward(" + shown(x)) + ")\n  expected = " + shown(right) +
             "\n  yours    = " + shown(yours);
    });
  }
  for (std::size_t i = 0; i < backward.size(); ++i) {
    const C y = cases.y[i], dy = cases.dy[i], yours = backward[i], right = dx_of(y, dy);
    judge.expect(same(yours, right), [&] {
      return why_backward(y, dy, yours) + ("\n  backward(y = " + shown(y)) + ", dy = " + shown(dy) +
             ")\n  expected = " + shown(right) + "\n  yours    = " + shown(yours);
    });
  }
}

/// Any bits: so a NaN of any kind, too.
template <class C>
C drawn(Judge& judge) {
  if constexpr (sizeof(C) == sizeof(float))
    return std::bit_cast<C>(static_cast<std::uint32_t>(judge.draw()));
  else
    return std::bit_cast<C>(judge.draw());
}

template <class C>
void expect_all(Judge& judge) {
  constexpr C infinity = std::numeric_limits<C>::infinity(), nan = std::numeric_limits<C>::quiet_NaN();
  constexpr C smallest = std::numeric_limits<C>::denorm_min(), largest = std::numeric_limits<C>::max();
  const std::array gradients{C(5),      C(-3),   C(1),     C(0),      -C(0), smallest,
                             -smallest, largest, infinity, -infinity, nan};
  Cases<C> few, halves, any;
  few.x = {C(1),      C(0.5),  C(3),     C(-2),    C(0),      -C(0), smallest,
           -smallest, largest, -largest, infinity, -infinity, nan,   -nan};
  for (const C y : {C(2), C(0), C(1), C(0.5), smallest, largest, infinity, nan, -nan})
    for (const C dy : gradients) few.backward(y, dy);
  expect_right(judge, few);
  for (std::uint32_t half = 0; half < 65536; ++half) {
    const C x = float_from_half_bits(static_cast<std::uint16_t>(half));
    halves.forward(x);
    halves.forward(x / 3);
    if (!has_sign(x) || is_nan(x))
      for (const C dy : gradients) halves.backward(x, dy);
    for (const C y : {C(0), C(0.25)}) halves.backward(y, x);
  }
  expect_right(judge, halves);
  for (int i = 0; i < 50'000; ++i) {
    any.forward(drawn<C>(judge));
    const C y = y_of(drawn<C>(judge));
    any.backward(y, drawn<C>(judge));
  }
  expect_right(judge, any);
}

}  // namespace

void check(Judge& judge) {
  expect_all<float>(judge);
  expect_all<double>(judge);
}

}  // namespace tinymp::exercise
