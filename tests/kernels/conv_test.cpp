#include <kernels/cpu/conv_reference.h>
#include <tests/catch.h>
#include <tests/kernels/conv_problems.h>
#include <tests/kernels/rig.h>

/// The fast convolutions against the definition, bit for bit. (The definition against exact arithmetic:
/// op_cases.h.)
namespace tinymp::test {
namespace {

using kernels::Epilogue;
using kernels::Window;
namespace cpu = kernels::cpu;

Tensor poisoned(Shape shape, DType dtype) {
  Tensor x(shape, dtype);
  kernels::fill(x.view(), std::numeric_limits<double>::quiet_NaN());
  return x;
}

/// What `kernel` writes into an output of that shape.
template <class F>
Tensor written(Shape shape, DType dtype, F kernel) {
  const Tensor out = poisoned(shape, dtype);
  kernel(out.view());
  return out;
}

struct Operands {
  Tensor x, w, dy;
};
Operands operands(const ConvProblem& p, DType dtype) {
  return {drawn(p.x, dtype, 1, 1), drawn(p.w(), dtype, 2, 1), drawn(p.y(), dtype, 3, 1)};
}

void check_all(const ConvProblem& p, DType dtype, DType sums) {
  const Operands o = operands(p, dtype);
  const Window& window = p.window;
  INFO(p << ", " << dtype << ", sums in " << sums);
  CHECK(bits_equal(
      written(p.y(), dtype,
              [&](const View& y) { kernels::conv2d(o.x.view(), o.w.view(), window, y, sums, {}); }),
      written(p.y(), dtype,
              [&](const View& y) { cpu::conv2d_reference(o.x.view(), o.w.view(), window, y, sums, {}); })));
  CHECK(bits_equal(
      written(p.x, dtype,
              [&](const View& dx) { kernels::conv2d_dx(o.dy.view(), o.w.view(), window, dx, sums, {}); }),
      written(p.x, dtype,
              [&](const View& dx) { cpu::conv2d_dx_reference(o.dy.view(), o.w.view(), window, dx, sums); })));
  CHECK(bits_equal(
      written(p.w(), dtype,
              [&](const View& dw) { kernels::conv2d_dw(o.x.view(), o.dy.view(), window, dw, sums, {}); }),
      written(p.w(), dtype,
              [&](const View& dw) { cpu::conv2d_dw_reference(o.x.view(), o.dy.view(), window, dw, sums); })));
}

TEST_CASE("conv2d and its gradients have the bits of their definition") {
  for (const ConvProblem& p : conv_problems()) {
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
      for (const DType sums : {DType::f32, DType::f16}) check_all(p, dtype, sums);
    }
  }
}

void check_what_follows(const ConvProblem& p) {
  for (const DType dtype : {DType::f32, DType::f16, DType::bf16, DType::f64}) {
    const Operands o = operands(p, dtype);
    const Tensor bias = drawn({p.outputs}, dtype, 4, 1);
    for (const bool biased : {false, true}) {
      for (const auto f : {std::optional<kernels::Unary>(), {kernels::Unary::relu}, {kernels::Unary::tanh}}) {
        const Epilogue after{biased ? bias.view() : View{}, f};
        const Tensor fused = written(p.y(), dtype, [&](const View& y) {
          kernels::conv2d(o.x.view(), o.w.view(), p.window, y, DType::f32, after);
        });
        const Tensor apart = written(p.y(), dtype, [&](const View& y) {
          kernels::conv2d(o.x.view(), o.w.view(), p.window, y, DType::f32, {});
          if (biased) kernels::add_bias(y, bias.view(), y);
          if (f) kernels::unary(*f, y, y);
        });
        INFO(dtype << (biased ? ", bias" : ""));
        CHECK(bits_equal(fused, apart));
      }
    }
  }
}

TEST_CASE("conv2d: bias and activation change no bit when they follow at once") {
  check_what_follows({{3, 6, 7, 3}, 5, {3, 3, 1, 1}});
  check_what_follows({{3, 6, 7, 3}, 17, {3, 3, 1, 1}});
}

TEST_CASE("conv2d: any number of threads gives the same bits where its registers hold pixels") {
  const ConvProblem p{{40, 9, 9, 5}, 7, {3, 3, 1, 1}};
  const Operands o = operands(p, DType::f32);
  const auto same = [&](Shape shape, auto kernel) {
    return same_for_all_threads([&] { return written(shape, DType::f32, kernel); });
  };
  CHECK(same(p.y(),
             [&](const View& y) { kernels::conv2d(o.x.view(), o.w.view(), p.window, y, DType::f32, {}); }));
  CHECK(same(p.x, [&](const View& dx) {
    kernels::conv2d_dx(o.dy.view(), o.w.view(), p.window, dx, DType::f32, {});
  }));
}

TEST_CASE("conv2d and pools: any number of threads gives the same bits") {
  const ConvProblem p{{20, 9, 9, 5}, 7, {3, 3, 2, 1}};
  for (const DType dtype : {DType::f32, DType::f16}) {
    const Operands o = operands(p, dtype);
    const auto same = [&](Shape shape, auto kernel) {
      return same_for_all_threads([&] { return written(shape, dtype, kernel); });
    };
    INFO(dtype);
    CHECK(same(p.y(),
               [&](const View& y) { kernels::conv2d(o.x.view(), o.w.view(), p.window, y, DType::f32, {}); }));
    CHECK(same(p.x, [&](const View& dx) {
      kernels::conv2d_dx(o.dy.view(), o.w.view(), p.window, dx, DType::f32, {});
    }));
    CHECK(same(p.w(), [&](const View& dw) {
      kernels::conv2d_dw(o.x.view(), o.dy.view(), p.window, dw, DType::f32, {});
    }));
    const Tensor images = drawn({90, 9, 9, 5}, dtype, 5), error = drawn({90, 4, 4, 5}, dtype, 6);
    const Window window{3, 3, 2};
    CHECK(same({90, 4, 4, 5}, [&](const View& y) { kernels::max_pool2d(images.view(), window, y); }));
    CHECK(same({90, 4, 4, 5}, [&](const View& y) { kernels::avg_pool2d(images.view(), window, y); }));
    CHECK(same({90, 9, 9, 5}, [&](const View& dx) {
      kernels::max_pool2d_backward(images.view(), error.view(), window, dx);
    }));
    CHECK(
        same({90, 9, 9, 5}, [&](const View& dx) { kernels::avg_pool2d_backward(error.view(), window, dx); }));
  }
}

TEST_CASE("conv2d: the zeros beside an image take part, a NaN reaches its windows and no other") {
  const double infinity = std::numeric_limits<double>::infinity();
  const Tensor x = drawn({1, 4, 4, 1}, DType::f32, 1), w = drawn({3, 3, 1, 1}, DType::f32, 2);
  const Window window{3, 3, 1, 1};
  w.data<float>()[0] = static_cast<float>(infinity);  // its tap lies over the edge in row and column 0
  const Tensor y = written({1, 4, 4, 1}, DType::f32, [&](const View& out) {
    kernels::conv2d(x.view(), w.view(), window, out, DType::f32, {});
  });
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::isnan(y.to_doubles()[i]) == (i % 4 == 0 && i > 0));

  w.data<float>()[0] = 1;
  x.data<float>()[0] = std::numeric_limits<float>::quiet_NaN();
  const Tensor z = written({1, 4, 4, 1}, DType::f32, [&](const View& out) {
    kernels::conv2d(x.view(), w.view(), window, out, DType::f32, {});
  });
  for (std::size_t i = 0; i < 16; ++i) CHECK(std::isnan(z.to_doubles()[i]) == (i < 8 && i % 4 < 2));
}

TEST_CASE("a weight gradient is one chain for 8 images, and the chains are added in order") {
  // One pixel an image: 2^24 swallows a 1 that is added to it, and not what was added up before.
  const auto gradient = [](std::int64_t images, std::int64_t large) {
    const Tensor x = drawn({images, 1, 1, 1}, DType::f32, 1);
    kernels::fill(x.view(), 1);
    x.data<float>()[large] = 0x1p24f;
    const Tensor dy({images, 1, 1, 1});
    kernels::fill(dy.view(), 1);
    return written({1, 1, 1, 1}, DType::f32,
                   [&](const View& dw) {
                     kernels::conv2d_dw(x.view(), dy.view(), {1, 1}, dw, DType::f32, {});
                   })
        .item();
  };
  CHECK(gradient(8, 0) == 0x1p24);
  CHECK(gradient(8, 7) == 0x1p24 + 8);  // 7 to even
  CHECK(gradient(12, 0) == 0x1p24 + 4);
  CHECK(gradient(16, 15) == 0x1p24 + 16);
}

TEST_CASE("max_pool2d: of equals the first gets the gradient, and a NaN goes before all") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const auto pooled = [](std::vector<float> values, std::vector<float> gradient) {
    const Tensor x = Tensor::from({1, 2, 2, 1}, values), dy = Tensor::from({1, 1, 1, 1}, gradient);
    Tensor y({1, 1, 1, 1}), dx({1, 2, 2, 1});
    kernels::max_pool2d(x.view(), {2, 2}, y.view());
    kernels::max_pool2d_backward(x.view(), dy.view(), {2, 2}, dx.view());
    return std::pair(y.to_floats()[0], dx.to_floats());
  };
  CHECK(pooled({1, 3, 3, 2}, {5}) == std::pair(3.0f, std::vector<float>{0, 5, 0, 0}));
  CHECK(pooled({-1, -1, -1, -1}, {5}) == std::pair(-1.0f, std::vector<float>{5, 0, 0, 0}));
  CHECK_FALSE(std::signbit(pooled({0.0f, -0.0f, -1, -1}, {5}).first));
  CHECK(std::signbit(pooled({-0.0f, 0.0f, -1, -1}, {5}).first));
  for (std::size_t at = 0; at < 4; ++at) {
    std::vector<float> values{1, 9, 2, 3}, expected(4, 0.0f);
    values[at] = nan;
    expected[at] = 5;
    const auto [y, dx] = pooled(values, {5});
    CHECK(std::isnan(y));
    CHECK(dx == expected);
  }
}

}  // namespace
}  // namespace tinymp::test
