#include <kernels/formulas/pool.h>
#include <tests/catch.h>
#include <tests/kernels/rig.h>

/// The pools of the CPU, which look at all windows at once, against their definition value by value
/// (formulas/pool.h: what the GPU runs), bit for bit.
namespace tinymp::test {
namespace {

using kernels::Slide;
using kernels::Window;

/// Values of which many are equal, and a NaN.
Tensor with_ties(Shape shape, DType dtype) {
  std::vector<double> values = drawn(shape, DType::f32, 1, 2).to_doubles();
  for (double& v : values) v = std::round(v);
  values[values.size() / 2] = std::nan("");
  return from(values, dtype).viewed_as(shape);
}

template <class C>
void check_pools(const Shape& shape, const Window& window, DType dtype) {
  const Shape pooled{shape[0], kernels::places(shape[1], window.height, window),
                     kernels::places(shape[2], window.width, window), shape[3]};
  const Slide s(shape, window, pooled);
  const Tensor x = with_ties(shape, dtype), dy = drawn(pooled, dtype, 2);
  const std::vector<double> of_x = x.to_doubles(), of_dy = dy.to_doubles();
  const auto read_x = [&](std::int64_t i) { return static_cast<C>(of_x[static_cast<std::size_t>(i)]); };
  const auto read_dy = [&](std::int64_t image, std::int64_t oh, std::int64_t ow, std::int64_t c) {
    return static_cast<C>(of_dy[static_cast<std::size_t>(s.place(image, oh, ow) + c)]);
  };
  std::vector<double> largest, mean, to_largest, to_all;
  const auto each = [](const Shape& of, auto&& f) {
    for (std::int64_t b = 0; b < of[0]; ++b)
      for (std::int64_t h = 0; h < of[1]; ++h)
        for (std::int64_t w = 0; w < of[2]; ++w)
          for (std::int64_t c = 0; c < of[3]; ++c) f(b, h, w, c);
  };
  each(pooled, [&](std::int64_t b, std::int64_t h, std::int64_t w, std::int64_t c) {
    largest.push_back(read_x(kernels::place_of_maximum<C>(s, read_x, b, h, w, c)));
    mean.push_back(kernels::mean_of_window<C>(s, read_x, b, h, w, c));
  });
  const C pixels = static_cast<C>(window.height * window.width);
  each(shape, [&](std::int64_t b, std::int64_t h, std::int64_t w, std::int64_t c) {
    const std::int64_t here = s.pixel(b, h, w) + c;
    to_largest.push_back(kernels::sum_over_windows<C>(s, h, w, [&](std::int64_t oh, std::int64_t ow) {
      return kernels::place_of_maximum<C>(s, read_x, b, oh, ow, c) == here ? read_dy(b, oh, ow, c) : C(0);
    }));
    to_all.push_back(kernels::sum_over_windows<C>(
        s, h, w, [&](std::int64_t oh, std::int64_t ow) { return read_dy(b, oh, ow, c) / pixels; }));
  });
  const Tensor y(pooled, dtype), dx(shape, dtype);
  const auto same = [&](const Tensor& ours, const std::vector<double>& expected) {
    return bits_equal(ours, from(expected, dtype).viewed_as(ours.shape()));
  };
  INFO(shape << ", window " << window.height << " x " << window.width << ", stride " << window.stride << ", "
             << dtype);
  kernels::max_pool2d(x.view(), window, y.view());
  CHECK(same(y, largest));
  kernels::avg_pool2d(x.view(), window, y.view());
  CHECK(same(y, mean));
  kernels::max_pool2d_backward(x.view(), dy.view(), window, dx.view());
  CHECK(same(dx, to_largest));
  kernels::avg_pool2d_backward(dy.view(), window, dx.view());
  CHECK(same(dx, to_all));
}

TEST_CASE("pools have the bits of their definition") {
  for (const Window& window :
       {Window{2, 2, 2}, Window{3, 3, 1}, Window{3, 2, 2}, Window{1, 1, 3}, Window{7, 9, 1}}) {
    for (const std::int64_t channels : {1, 6, 17}) {
      const Shape shape{3, 7, 9, channels};
      check_pools<float>(shape, window, DType::f32);
      check_pools<float>(shape, window, DType::f16);
      check_pools<double>(shape, window, DType::f64);
    }
  }
}

}  // namespace
}  // namespace tinymp::test
