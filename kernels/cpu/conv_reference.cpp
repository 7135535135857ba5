#include <kernels/cpu/block.h>
#include <kernels/cpu/conv_reference.h>
#include <kernels/cpu/gemm/epilogue.h>
#include <kernels/executors.h>
#include <kernels/formulas/conv.h>

namespace tinymp::kernels::cpu {
namespace {

/// Value i of a view, widened.
template <class C>
struct Reader {
  const View& view;
  C operator()(std::int64_t i) const {
    if (view.dtype == dtype_of<C>) return view.data<C>()[i];
    C value{};
    visit_any_dtype(view.dtype, [&]<class T> {
      convert(std::span<const T>(view.data<T>() + i, 1), std::span<C>(&value, 1));
    });
    return value;
  }
};

/// Calls body(b, h, w, c) for every value of an image tensor, in parallel over rows of pixels.
template <class F>
void for_values(const Shape& shape, F&& body) {
  parallel_for(shape[0] * shape[1], 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      for (std::int64_t w = 0; w < shape[2]; ++w) {
        for (std::int64_t c = 0; c < shape[3]; ++c) body(row / shape[1], row % shape[1], w, c);
      }
    }
  });
}

}  // namespace

void conv2d_reference(const View& x, const View& w, const Window& window, const View& y, DType accumulate,
                      const Epilogue& after) {
  const Slide slide(x.shape, window, y.shape);
  with_compute_type(y.dtype, [&]<class C> {
    const Reader<C> of_x{x}, of_w{w};
    for_values(y.shape, [&](std::int64_t b, std::int64_t h, std::int64_t v, std::int64_t o) {
      const C value = conv2d_value<C>(slide, of_x, of_w, accumulate == DType::f16, b, h, v, o);
      store<C>(&value, y, slide.place(b, h, v) + o, 1);
    });
  });
  finish(after, y);
}

void conv2d_dx_reference(const View& dy, const View& w, const Window& window, const View& dx,
                         DType accumulate) {
  const Slide slide(dx.shape, window, dy.shape);
  with_compute_type(dx.dtype, [&]<class C> {
    const Reader<C> of_dy{dy}, of_w{w};
    for_values(dx.shape, [&](std::int64_t b, std::int64_t h, std::int64_t v, std::int64_t c) {
      const C value = conv2d_dx_value<C>(slide, of_dy, of_w, accumulate == DType::f16, b, h, v, c);
      store<C>(&value, dx, slide.pixel(b, h, v) + c, 1);
    });
  });
}

void conv2d_dw_reference(const View& x, const View& dy, const Window& window, const View& dw,
                         DType accumulate) {
  const Slide slide(x.shape, window, dy.shape);
  with_compute_type(dw.dtype, [&]<class C> {
    const Reader<C> of_x{x}, of_dy{dy};
    const bool half_sums = accumulate == DType::f16;
    for_values(dw.shape, [&](std::int64_t kh, std::int64_t kw, std::int64_t c, std::int64_t o) {
      Chain<C> total{half_sums};
      for (std::int64_t group = 0; group < groups_of(slide.images); ++group)
        total.add(conv2d_dw_value<C>(slide, of_x, of_dy, half_sums, group, kh, kw, c, o));
      store<C>(&total.sum, dw, ((kh * window.width + kw) * slide.channels + c) * slide.outputs + o, 1);
    });
  });
}

}  // namespace tinymp::kernels::cpu
