#include <tests/catch.h>
#include <tests/kernels/rig.h>
#include <limits>

/// Kernels that work value by value: exact arithmetic rounded once; f16 over every half there is.
namespace tinymp::test {
namespace {

using kernels::Unary;
constexpr DType formats[] = {DType::f16, DType::bf16, DType::f32, DType::f64};
const double nan = std::numeric_limits<double>::quiet_NaN(),
             infinity = std::numeric_limits<double>::infinity();

Tensor apply(Unary f, const Tensor& x) {
  Tensor y(x.shape(), x.dtype());
  kernels::unary(f, x.view(), y.view());
  return y;
}

Tensor derivative(Unary f, const Tensor& y, const Tensor& dy) {
  Tensor dx(y.shape(), y.dtype());
  kernels::unary_backward(f, y.view(), dy.view(), dx.view());
  return dx;
}

TEST_CASE("relu of every half: negative is +0, positive itself, NaN stays NaN") {
  const Tensor x = all_halves(), y = apply(Unary::relu, x);
  int wrong = 0;
  for (int i = 0; i < 65536; ++i) {
    const half in = x.data<half>()[i], out = y.data<half>()[i];
    const std::uint16_t expected = isnan(in) ? 0x7e00 : in > half(0.0f) ? in.bits() : 0;
    wrong += out.bits() != expected;
  }
  CHECK(wrong == 0);
}

TEST_CASE("relu lets NaN through in every format, and infinity") {
  for (const DType dtype : formats) {
    const Tensor y = apply(Unary::relu, from({nan, -nan, infinity, -infinity, -0.0, 0, -1, 2}, dtype));
    const std::vector<double> v = y.to_doubles();
    INFO(dtype);
    CHECK(std::isnan(v[0]));
    CHECK(std::isnan(v[1]));
    CHECK(v[2] == infinity);
    for (const std::size_t i : {3u, 4u, 5u, 6u}) CHECK(same_bits(v[i], 0.0));
    CHECK(v[7] == 2);
  }
}

/// The worst error of f over every finite half, in units of half the spacing there.
template <class F>
void check_every_half(Unary f, F exact) {
  const Tensor x = all_halves(), y = apply(f, x);
  int off = 0, more = 0, nans = 0;
  for (int i = 0; i < 65536; ++i) {
    const double in = static_cast<double>(static_cast<float>(x.data<half>()[i]));
    const double out = static_cast<double>(static_cast<float>(y.data<half>()[i]));
    if (std::isnan(in)) {
      nans += y.data<half>()[i].bits() == 0x7e00;
      continue;
    }
    const double nearest = rounded_to(DType::f16, exact(static_cast<long double>(in)));
    off += out != nearest;
    more += !(std::fabs(out - nearest) <= spacing(DType::f16, nearest));
  }
  CHECK(nans == 2046);
  CHECK(more == 0);  // at most the neighbour,
  CHECK(off <= 40);  // and that only where the FP32 result lies at the middle of two halves
}

TEST_CASE("sigmoid of every half") {
  check_every_half(Unary::sigmoid, [](long double x) { return 1 / (1 + std::exp(-x)); });
}
TEST_CASE("tanh of every half") {
  check_every_half(Unary::tanh, [](long double x) { return std::tanh(x); });
}

TEST_CASE("exp and log at the edges") {
  for (const DType dtype : formats) {
    const Tensor x = from({infinity, -infinity, nan, 0.0, -0.0, 1000, -1000, -1, 1}, dtype);
    const std::vector<double> e = apply(Unary::exp, x).to_doubles(), l = apply(Unary::log, x).to_doubles();
    INFO(dtype);
    CHECK(e[0] == infinity);
    CHECK(e[1] == 0);
    CHECK(std::isnan(e[2]));
    CHECK((e[3] == 1 && e[4] == 1));
    CHECK(e[5] == infinity);  // e^1000 lies beyond the largest double
    CHECK(e[6] == 0);
    CHECK(l[0] == infinity);
    for (const std::size_t i : {1u, 2u, 6u, 7u}) CHECK(std::isnan(l[i]));
    CHECK((l[3] == -infinity && l[4] == -infinity));
    CHECK(same_bits(l[8], 0.0));
  }
}

TEST_CASE("exp of every half: infinite above 11.0859375, in FP32 alone it would not be") {
  const Tensor x = all_halves(), y = apply(Unary::exp, x);
  int off = 0, infinite = 0;
  for (int i = 0; i < 65536; ++i) {
    const double in = static_cast<double>(static_cast<float>(x.data<half>()[i]));
    if (std::isnan(in)) continue;
    const double out = static_cast<double>(static_cast<float>(y.data<half>()[i]));
    off += out != rounded_to(DType::f16, std::exp(static_cast<long double>(in)));
    infinite += std::isinf(out);
    CHECK(std::isinf(out) == (in > 11.0859375));
  }
  CHECK(off <= 40);  // where the FP32 result lies at the middle of two halves
  CHECK(infinite > 10000);
}

TEST_CASE("log of every half above 0") {
  const Tensor x = all_halves(), y = apply(Unary::log, x);
  int off = 0;
  for (int i = 1; i < 0x7c00; ++i) {
    const auto in = static_cast<long double>(static_cast<float>(x.data<half>()[i]));
    const double out = static_cast<double>(static_cast<float>(y.data<half>()[i]));
    off += out != rounded_to(DType::f16, std::log(in));
  }
  CHECK(off <= 40);
}

TEST_CASE("sigmoid and tanh at the edges") {
  for (const DType dtype : formats) {
    const Tensor x = from({infinity, -infinity, nan, 0, 1000, -1000}, dtype);
    const std::vector<double> s = apply(Unary::sigmoid, x).to_doubles(),
                              t = apply(Unary::tanh, x).to_doubles();
    INFO(dtype);
    CHECK(s[0] == 1);
    CHECK(s[1] == 0);
    CHECK(std::isnan(s[2]));
    CHECK(s[3] == 0.5);
    CHECK(s[4] == 1);
    CHECK(s[5] >= 0);
    CHECK(s[5] < 1e-300);
    CHECK(t[0] == 1);
    CHECK(t[1] == -1);
    CHECK(std::isnan(t[2]));
    CHECK(t[3] == 0);
    CHECK(t[4] == 1);
    CHECK(t[5] == -1);
  }
}

TEST_CASE("unary_backward works on y and rounds once") {
  const auto exact = [](Unary f, double y, double dy) {
    switch (f) {
      case Unary::relu:
        return y > 0 ? dy : 0;
      case Unary::sigmoid:
        return dy * y * (1 - y);
      case Unary::tanh:
        return dy * (1 - y * y);
      case Unary::exp:
        return dy * y;
      case Unary::log:
        return dy / y;  // handed x, not log(x)
      case Unary::gelu:
        return dy * (std::erfc(-y / std::sqrt(2.0)) / 2 +
                     y * std::exp(-y * y / 2) / std::sqrt(2 * 3.14159265358979323846));  // so is it
    }
    return nan;
  };
  for (const DType dtype : formats) {
    for (const Unary f : {Unary::relu, Unary::sigmoid, Unary::tanh, Unary::exp, Unary::log, Unary::gelu}) {
      const Tensor x = drawn({3000}, dtype, 1), dy = drawn({3000}, dtype, 2, 100);
      const Tensor y = f == Unary::log || f == Unary::gelu ? x : apply(f, x);
      const std::vector<double> at = y.to_doubles(), d = dy.to_doubles(),
                                got = derivative(f, y, dy).to_doubles();
      int wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double expected = exact(f, at[i], d[i]);
        const double size = std::max(std::fabs(d[i]), std::fabs(expected));
        const double slack = f == Unary::relu ? 0 : 4 * unit_roundoff(dtype) * size;
        wrong += !(std::fabs(got[i] - expected) <= slack + spacing(dtype, expected) / 2 * (f != Unary::relu));
      }
      INFO(dtype << ", function " << static_cast<int>(f));
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("add and accumulate: the exact sum rounded once") {
  for (const DType dtype : formats) {
    const Tensor a = drawn({20000}, dtype, 3, 1000), b = drawn({20000}, dtype, 4, 0.01f);
    Tensor y(a.shape(), dtype);
    kernels::add(a.view(), b.view(), y.view());
    const std::vector<double> l = a.to_doubles(), r = b.to_doubles(), got = y.to_doubles();
    int wrong = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      wrong += !same_bits(got[i],
                          rounded_to(dtype, static_cast<long double>(l[i]) + static_cast<long double>(r[i])));
    }
    CHECK(wrong == 0);
    kernels::accumulate(a.view(), b.view());  // b = b + a
    CHECK(bits_equal(b, y));
  }
}

TEST_CASE("accumulate adds f16 values to an f32 buffer without rounding to f16") {
  const Tensor buffer = from({1, 2048, 0.1}, DType::f32);
  const Tensor more = from({0x1p-20, 1, 0.1}, DType::f16);
  kernels::accumulate(more.view(), buffer.view());
  CHECK(buffer.to_floats() == std::vector<float>{1 + 0x1p-20f, 2049, 0.1f + 0.0999755859375f});
}

TEST_CASE("cast between all formats rounds once, to nearest even") {
  Rng rng(5);
  std::vector<double> values;
  for (int i = 0; i < 3000; ++i) {
    const float significand = rng.uniform(-1, 1);
    values.push_back(
        std::ldexp(static_cast<double>(significand) + 0x1p-40, static_cast<int>(rng.below(50)) - 30));
  }
  // Just above the middle of two halves, by less than FP32 can see: float first would round to the wrong
  // side.
  for (const double v : {1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11 - 0x1p-40, 1 + 0x1p-11, 1 + 0x1.8p-10,
                         65519.999999999, 65520.0, 0x1p-25, 0x1p-25 + 0x1p-60, 0x1p-26, -0.0, infinity,
                         -infinity, nan, 1e300, 1e-300, 0x1p-149, 0x1p-150}) {
    values.push_back(v);
  }
  const Tensor exact =
      Tensor::from({static_cast<std::int64_t>(values.size())}, std::span<const double>(values));
  for (const DType from_format : formats) {
    Tensor x(exact.shape(), from_format);
    kernels::cast(exact.view(), x.view());
    const std::vector<double> in = x.to_doubles();
    for (std::size_t i = 0; i < in.size(); ++i) {
      INFO("f64 " << values[i] << " to " << from_format << " gave " << in[i]);
      REQUIRE(same_bits(in[i], rounded_to(from_format, static_cast<long double>(values[i]))));
    }
    for (const DType to : formats) {
      Tensor y(exact.shape(), to);
      kernels::cast(x.view(), y.view());
      const std::vector<double> out = y.to_doubles();
      for (std::size_t i = 0; i < in.size(); ++i) {
        INFO(from_format << " " << in[i] << " to " << to << " gave " << out[i]);
        REQUIRE(same_bits(out[i], rounded_to(to, static_cast<long double>(in[i]))));
      }
      if (to == DType::f16) {
        for (std::int64_t i = 0; i < y.size(); ++i) {
          if (isnan(y.data<half>()[i])) CHECK(y.data<half>()[i].bits() == 0x7e00);
        }
      }
    }
  }
}

TEST_CASE("fill, scale and broadcast round once, as they store") {
  Tensor x({5}, DType::f16);
  kernels::fill(x.view(), 1 + 0x1p-11 + 0x1p-40);
  CHECK(x.to_floats() == std::vector<float>(5, 1.0009765625f));
  kernels::fill(x.view(), 0.1);
  Tensor y({5}, DType::f16);
  kernels::scale(x.view(), 1024, y.view());
  CHECK(y.to_floats() == std::vector<float>(5, 0.0999755859375f * 1024));

  const Tensor scalar = Tensor::from({}, std::vector<float>{3});
  kernels::broadcast(scalar.view(), 3, y.view());
  CHECK(y.to_floats() == std::vector<float>(5, 1));
  Tensor none({0}, DType::f16);
  kernels::fill(none.view(), 1);
  kernels::broadcast(scalar.view(), 1, none.view());
}

TEST_CASE("add_bias adds each column's own, in rows longer than a block too") {
  for (const DType dtype : formats) {
    for (const Shape& shape : {Shape{3, 5}, Shape{1, 2500}, Shape{40, 1024}, Shape{9, 1025}, Shape{3000, 7},
                               Shape{5, 0}, Shape{0, 5}}) {
      const Tensor x = drawn(shape, dtype, 6), bias = drawn({shape[1]}, dtype, 7);
      Tensor y(shape, dtype);
      kernels::add_bias(x.view(), bias.view(), y.view());
      const std::vector<double> in = x.to_doubles(), b = bias.to_doubles(), got = y.to_doubles();
      int wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double added = b[i % b.size()];
        wrong += !same_bits(
            got[i], rounded_to(dtype, static_cast<long double>(in[i]) + static_cast<long double>(added)));
      }
      INFO(dtype << shape);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("element-wise kernels give the same bits for 1, 2, 3 and 7 threads") {
  for (const DType dtype : formats) {
    const Tensor x = drawn({50, 1001}, dtype, 8), other = drawn({50, 1001}, dtype, 9),
                 bias = drawn({1001}, dtype, 10);
    const auto into = [&](auto kernel) {
      return same_for_all_threads([&] {
        Tensor y(x.shape(), dtype);
        kernel(y.view());
        return y;
      });
    };
    INFO(dtype);
    CHECK(into([&](const View& y) { kernels::add(x.view(), other.view(), y); }));
    CHECK(into([&](const View& y) { kernels::subtract(x.view(), other.view(), y); }));
    CHECK(into([&](const View& y) { kernels::scale(x.view(), 0.3, y); }));
    CHECK(into([&](const View& y) { kernels::unary(Unary::sigmoid, x.view(), y); }));
    CHECK(into([&](const View& y) { kernels::unary_backward(Unary::tanh, x.view(), other.view(), y); }));
    CHECK(into([&](const View& y) { kernels::add_bias(x.view(), bias.view(), y); }));
    CHECK(into([&](const View& y) { kernels::cast(x.view(), y); }));
  }
}

}  // namespace
}  // namespace tinymp::test
