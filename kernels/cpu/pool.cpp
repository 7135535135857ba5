#include <kernels/cpu/block.h>
#include <kernels/cpu/scratch.h>
#include <kernels/executors.h>
#include <kernels/formulas/pool.h>

/// Threads share out the images. The windows of an image are read together, tap by tap.
namespace tinymp::kernels::cpu {
namespace {

/// One image as C: its own memory, a widened copy, or values that are rounded when they are stored.
template <class C>
class Image {
 public:
  Image(const View& x, std::int64_t size) : x_(x), size_(size), wide_(x.dtype == dtype_of<C> ? 0 : size) {}

  const C* read(std::int64_t image) {
    if (x_.dtype == dtype_of<C>) return x_.data<C>() + image * size_;
    cpu::read(x_, image * size_, size_, wide_.data());
    return wide_.data();
  }
  C* zeros(std::int64_t image) {
    C* values = x_.dtype == dtype_of<C> ? x_.data<C>() + image * size_ : wide_.data();
    std::fill_n(values, size_, C(0));
    return values;
  }
  C* room(std::int64_t image) {
    return x_.dtype == dtype_of<C> ? x_.data<C>() + image * size_ : wide_.data();
  }
  void write(const C* values, std::int64_t image) { store(values, x_, image * size_, size_); }

 private:
  const View& x_;
  std::int64_t size_;
  Scratch<C> wide_;
};

std::int64_t size_in_x(const Slide& s) { return s.height * s.width * s.channels; }
std::int64_t size_in_y(const Slide& s) { return s.down * s.across * s.outputs; }

/// Calls body(first, last) for ranges of images, in parallel.
template <class F>
void for_images(const Slide& s, F&& body) {
  parallel_for(s.images, std::max<std::int64_t>(1, grain / std::max<std::int64_t>(size_in_x(s), 1)), body);
}

/// Calls body(corner, place) for every window of one image: the window begins at `corner` of the image, and
/// its pixel of y lies at `place`.
template <class F>
void for_windows(const Slide& s, F&& body) {
  for (std::int64_t oh = 0; oh < s.down; ++oh) {
    for (std::int64_t ow = 0; ow < s.across; ++ow)
      body(s.pixel(0, oh * s.window.stride, ow * s.window.stride), s.place(0, oh, ow));
  }
}

/// Calls f.operator()<channels>() for at most `most` channels, so that the compiler knows their number; else
/// f.operator()<0>().
template <int most = 16, class F>
void with_channels(std::int64_t channels, F&& f) {
  if (channels == most) return f.template operator()<most>();
  if constexpr (most > 1) {
    with_channels<most - 1>(channels, f);
  } else {
    f.template operator()<0>();
  }
}

/// A tap of the windows: pixel (kh,kw) of each window. The values under a tap have the shape of y and are
/// contiguous, however few channels there are.
struct Tap {
  std::int64_t kh, kw;

  template <class C>
  void take(const Slide& s, const C* image, C* values) const {
    const C* from = image + s.pixel(0, kh, kw);
    with_channels(s.channels, [&]<int known> {
      const std::int64_t n = known > 0 ? known : s.channels;
      for_windows(
          s, [=](std::int64_t corner, std::int64_t place) { std::copy_n(from + corner, n, values + place); });
    });
  }

  template <class C>
  void add(const Slide& s, const C* values, C* image) const {
    C* to = image + s.pixel(0, kh, kw);
    with_channels(s.channels, [&]<int known> {
      const std::int64_t n = known > 0 ? known : s.channels;
      for_windows(s, [=](std::int64_t corner, std::int64_t place) {
        for (std::int64_t c = 0; c < n; ++c) to[corner + c] += values[place + c];
      });
    });
  }
};

/// Calls body(tap) in the order of a window's pixels.
template <class F>
void for_taps(const Window& window, F&& body) {
  for (std::int64_t kh = 0; kh < window.height; ++kh) {
    for (std::int64_t kw = 0; kw < window.width; ++kw) body(Tap{kh, kw});
  }
}

/// Calls body(tap) from the last to the first, so that a pixel in several windows meets these windows from
/// the first to the last.
template <class F>
void for_taps_back(const Window& window, F&& body) {
  for (std::int64_t kh = window.height - 1; kh >= 0; --kh) {
    for (std::int64_t kw = window.width - 1; kw >= 0; --kw) body(Tap{kh, kw});
  }
}

/// Finds the largest value of each window of one image and, when `taps` is not null, its tap. `met` has room
/// for the values under one tap.
template <class C>
void find_maxima(const Slide& s, const C* image, C* met, C* largest, std::int32_t* taps) {
  const std::int64_t n = size_in_y(s);
  Tap{0, 0}.take(s, image, largest);
  if (taps != nullptr) std::fill_n(taps, n, 0);
  std::int32_t number = 0;
  for_taps(s.window, [&](const Tap& tap) {
    const std::int32_t of_this = number++;
    if (of_this == 0) return;
    tap.take(s, image, met);
    if (taps == nullptr) {
      for_each_value<C>(
          n, [=](std::int64_t i) { largest[i] = is_larger(met[i], largest[i]) ? met[i] : largest[i]; });
      return;
    }
    for_each_value<C>(n, [=](std::int64_t i) {
      const bool larger = is_larger(met[i], largest[i]);
      largest[i] = larger ? met[i] : largest[i];
      taps[i] = larger ? of_this : taps[i];
    });
  });
}

}  // namespace

void max_pool2d(const View& x, const Window& window, const View& y) {
  const Slide s(x.shape, window, y.shape);
  with_compute_type(x.dtype, [&]<class C> {
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> in(x, size_in_x(s)), out(y, size_in_y(s));
      const Scratch<C> met(size_in_y(s));
      for (std::int64_t image = first; image < last; ++image) {
        const C* from = in.read(image);
        C* to = out.room(image);
        find_maxima<C>(s, from, met.data(), to, nullptr);
        out.write(to, image);
      }
    });
  });
}

void max_pool2d_backward(const View& x, const View& dy, const Window& window, const View& dx) {
  const Slide s(x.shape, window, dy.shape);
  const std::int64_t n = size_in_y(s);
  with_compute_type(x.dtype, [&]<class C> {
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> in(x, size_in_x(s)), error(dy, n), out(dx, size_in_x(s));
      const Scratch<C> met(n), largest(n);
      const Scratch<std::int32_t> taps(n);
      for (std::int64_t image = first; image < last; ++image) {
        find_maxima(s, in.read(image), met.data(), largest.data(), taps.data());
        const C* d = error.read(image);
        C *to = out.zeros(image), *handed = met.data();
        const std::int32_t* larger = taps.data();
        for_taps_back(window, [&](const Tap& tap) {
          const auto number = static_cast<std::int32_t>(tap.kh * window.width + tap.kw);
          for_each_value<C>(n, [=](std::int64_t i) { handed[i] = larger[i] == number ? d[i] : C(0); });
          tap.add(s, handed, to);
        });
        out.write(to, image);
      }
    });
  });
}

void avg_pool2d(const View& x, const Window& window, const View& y) {
  const Slide s(x.shape, window, y.shape);
  const std::int64_t n = size_in_y(s);
  with_compute_type(x.dtype, [&]<class C> {
    const C pixels = static_cast<C>(window.height * window.width);
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> in(x, size_in_x(s)), out(y, n);
      const Scratch<C> met(n);
      for (std::int64_t image = first; image < last; ++image) {
        const C *from = in.read(image), *values = met.data();
        C* to = out.zeros(image);
        for_taps(window, [&](const Tap& tap) {
          tap.take(s, from, met.data());
          for_each_value<C>(n, [=](std::int64_t i) { to[i] += values[i]; });
        });
        for_each_value<C>(n, [=](std::int64_t i) { to[i] /= pixels; });
        out.write(to, image);
      }
    });
  });
}

void avg_pool2d_backward(const View& dy, const Window& window, const View& dx) {
  const Slide s(dx.shape, window, dy.shape);
  const std::int64_t n = size_in_y(s);
  with_compute_type(dx.dtype, [&]<class C> {
    const C pixels = static_cast<C>(window.height * window.width);
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> error(dy, n), out(dx, size_in_x(s));
      const Scratch<C> shares(n);
      for (std::int64_t image = first; image < last; ++image) {
        const C* d = error.read(image);
        C *to = out.zeros(image), *share = shares.data();
        for_each_value<C>(n, [=](std::int64_t i) { share[i] = d[i] / pixels; });
        for_taps_back(window, [&](const Tap& tap) { tap.add(s, share, to); });
        out.write(to, image);
      }
    });
  });
}

void subsample(const View& x, std::int64_t stride, const View& y) {
  const Slide s(x.shape, {1, 1, stride}, y.shape);
  visit_dtype(x.dtype, [&]<class T> {
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t image = first; image < last; ++image) {
        const T* from = x.data<T>() + image * size_in_x(s);
        T* to = y.data<T>() + image * size_in_y(s);
        std::fill_n(to, size_in_y(s), T{});
        for_windows(s, [&](std::int64_t pixel, std::int64_t place) {
          std::copy_n(from + pixel, s.channels, to + place);
        });
      }
    });
  });
}

void subsample_backward(const View& dy, std::int64_t stride, const View& dx) {
  const Slide s(dx.shape, {1, 1, stride}, dy.shape);
  visit_dtype(dx.dtype, [&]<class T> {
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t image = first; image < last; ++image) {
        const T* from = dy.data<T>() + image * size_in_y(s);
        T* to = dx.data<T>() + image * size_in_x(s);
        std::fill_n(to, size_in_x(s), T{});
        for_windows(s, [&](std::int64_t pixel, std::int64_t place) {
          std::copy_n(from + place, s.channels, to + pixel);
        });
      }
    });
  });
}

}  // namespace tinymp::kernels::cpu
