#include <kernels/cpu/block.h>
#include <kernels/cpu/scratch.h>
#include <kernels/executors.h>
#include <kernels/pooling.h>

/// Threads share out the images. Windows are looked at in their order, and within a window pixel by pixel, so
/// that the innermost loop runs over channels, which lie side by side.
namespace tinymp::kernels::cpu {
namespace {

/// One image as C: its own memory, or a widened copy, or values to be rounded when they are stored.
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

/// Calls body(corner, place) for every window of one image: where it begins there, and where its pixel of y.
template <class F>
void for_windows(const Slide& s, F&& body) {
  for (std::int64_t oh = 0; oh < s.down; ++oh) {
    for (std::int64_t ow = 0; ow < s.across; ++ow)
      body(s.pixel(0, oh * s.window.stride, ow * s.window.stride), s.place(0, oh, ow));
  }
}

/// Calls body(offset) for every pixel of a window: how far behind its corner. `side` is its height and width
/// where the compiler is to know them, else 0.
template <int side = 0, class F>
void for_pixels(const Slide& s, F&& body) {
  const std::int64_t height = side > 0 ? side : s.window.height, width = side > 0 ? side : s.window.width;
  for (std::int64_t kh = 0; kh < height; ++kh) {
    for (std::int64_t kw = 0; kw < width; ++kw) body((kh * s.width + kw) * s.channels);
  }
}

/// f.operator()<side>() for the windows that nearly every network has, whose four values then stay in
/// registers, and for all others.
template <class F>
void with_side(const Window& window, F&& f) {
  if (window.height == 2 && window.width == 2) return f.template operator()<2>();
  f.template operator()<0>();
}

/// The largest values of one image's windows.
template <int side, class C>
void take_maxima(const Slide& s, const C* from, C* to) {
  for_windows(s, [&](std::int64_t corner, std::int64_t place) {
    const C* pixel = from + corner;
    C* best = to + place;
    for (std::int64_t c = 0; c < s.channels; ++c) {
      C largest = pixel[c];
      for_pixels<side>(s, [&](std::int64_t offset) {
        const C value = pixel[offset + c];
        largest = is_larger(value, largest) ? value : largest;
      });
      best[c] = largest;
    }
  });
}

/// Adds dy to dx where the largest values lie. First the places of a row of windows are found, all values
/// alike, without a branch that nobody can guess; `corners` and `places` have room for them.
template <int side, class C>
void hand_to_maxima(const Slide& s, const C* from, const C* dy, C* dx, std::int32_t* corners,
                    std::int32_t* places) {
  const std::int64_t n = s.across * s.channels;
  for (std::int64_t i = 0; i < n; ++i)
    corners[i] = static_cast<std::int32_t>(s.pixel(0, 0, i / s.channels * s.window.stride) + i % s.channels);
  for (std::int64_t oh = 0; oh < s.down; ++oh) {
    const std::int64_t row = s.pixel(0, oh * s.window.stride, 0);
    const C* pixels = from + row;
    for_each_value<C>(n, [=](std::int64_t i) {
      std::int32_t place = corners[i];
      C largest = pixels[place];
      for_pixels<side>(s, [&](std::int64_t offset) {
        const std::int32_t other = corners[i] + static_cast<std::int32_t>(offset);
        const C value = pixels[other];
        const bool larger = is_larger(value, largest);
        largest = larger ? value : largest;
        place = larger ? other : place;
      });
      places[i] = place;
    });
    for (std::int64_t i = 0; i < n; ++i) dx[row + places[i]] += dy[oh * n + i];
  }
}

}  // namespace

void max_pool2d(const View& x, const Window& window, const View& y) {
  const Slide s(x.shape, window, y.shape);
  with_compute_type(x.dtype, [&]<class C> {
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> in(x, size_in_x(s)), out(y, size_in_y(s));
      for (std::int64_t image = first; image < last; ++image) {
        const C* from = in.read(image);
        C* to = out.room(image);
        with_side(window, [&]<int side> { take_maxima<side>(s, from, to); });
        out.write(to, image);
      }
    });
  });
}

void max_pool2d_backward(const View& x, const View& dy, const Window& window, const View& dx) {
  const Slide s(x.shape, window, dy.shape);
  with_compute_type(x.dtype, [&]<class C> {
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> in(x, size_in_x(s)), error(dy, size_in_y(s)), out(dx, size_in_x(s));
      const Scratch<std::int32_t> corners(s.across * s.channels), places(s.across * s.channels);
      for (std::int64_t image = first; image < last; ++image) {
        const C *from = in.read(image), *d = error.read(image);
        C* to = out.zeros(image);
        with_side(window,
                  [&]<int side> { hand_to_maxima<side>(s, from, d, to, corners.data(), places.data()); });
        out.write(to, image);
      }
    });
  });
}

void avg_pool2d(const View& x, const Window& window, const View& y) {
  const Slide s(x.shape, window, y.shape);
  with_compute_type(x.dtype, [&]<class C> {
    const C pixels = static_cast<C>(window.height * window.width);
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> in(x, size_in_x(s)), out(y, size_in_y(s));
      for (std::int64_t image = first; image < last; ++image) {
        const C* from = in.read(image);
        C* to = out.zeros(image);
        for_windows(s, [&](std::int64_t corner, std::int64_t place) {
          for_pixels(s, [&](std::int64_t offset) {
            for (std::int64_t c = 0; c < s.channels; ++c) to[place + c] += from[corner + offset + c];
          });
          for (std::int64_t c = 0; c < s.channels; ++c) to[place + c] /= pixels;
        });
        out.write(to, image);
      }
    });
  });
}

void avg_pool2d_backward(const View& dy, const Window& window, const View& dx) {
  const Slide s(dx.shape, window, dy.shape);
  with_compute_type(dx.dtype, [&]<class C> {
    const C pixels = static_cast<C>(window.height * window.width);
    for_images(s, [&](std::int64_t first, std::int64_t last) {
      Image<C> error(dy, size_in_y(s)), out(dx, size_in_x(s));
      for (std::int64_t image = first; image < last; ++image) {
        const C* d = error.read(image);
        C* to = out.zeros(image);
        for_windows(s, [&](std::int64_t corner, std::int64_t place) {
          for_pixels(s, [&](std::int64_t offset) {
            for (std::int64_t c = 0; c < s.channels; ++c) to[corner + offset + c] += d[place + c] / pixels;
          });
        });
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
