#pragma once

#include <kernels/cuda/float8_mma.h>
#include <kernels/cuda/gemm/mma_tile.h>
#include <kernels/cuda/images.h>
#include <kernels/formulas/conv.h>
#include <kernels/formulas/float8.h>
#include <kernels/profile.h>
#include <limits>
#include <optional>

/// FP8 on tensor cores. Their instruction wants both operands along k, four neighbours in a register, and no
/// instruction transposes bytes on the way. So the operands are first gathered into lines along k, each a row of a or
/// a column of b: those of a transposed matrix, or the windows of a convolution. From sm_89 on the lines hold FP8.
/// A GPU without FP8 takes FP16, which holds every number of both formats. Sums go along k in the order of
/// formulas/conv.h, with zeros for what it leaves out.
/// What nvcc makes of it for sm_90 is no faster than FP16 (ptx.h): FP8 saves memory there, not time.
/// UNTESTED ON HARDWARE.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

using Code = std::uint8_t;

/// op(x) as lines: number `term` of line `row`.
struct LinesOfMatrix {
  const Code *x, *end;
  std::int64_t batch, along_rows, along_terms;
  __device__ const Code* operator()(std::int64_t group, std::int64_t row, std::int64_t term) const {
    const Code* const at = x + group * batch + row * along_rows + term * along_terms;
    return at < end ? at : nullptr;
  }
};

/// What place number `place` of the window meets at tap number `tap`, (kh,kw,c).
__device__ const Code* window_at(const Slide& s, const Code* x, std::int64_t place, std::int64_t tap) {
  const Place at = place_of(place, s.down, s.across, 1);
  const Place meets = place_of(tap, s.window.height, s.window.width, s.channels);
  const std::int64_t h = at.h * s.window.stride + meets.h - s.window.padding;
  const std::int64_t v = at.w * s.window.stride + meets.w - s.window.padding;
  const bool inside = at.image < s.images && h >= 0 && h < s.height && v >= 0 && v < s.width;
  return inside ? x + s.pixel(at.image, h, v) + meets.c : nullptr;
}

struct LinesOfWindows {
  Slide s;
  const Code* x;
  __device__ const Code* operator()(std::int64_t, std::int64_t row, std::int64_t term) const {
    return window_at(s, x, row, term);
  }
};
/// The same transposed, for the weight gradient: a line for each tap, along the places of a group of images.
struct LinesOfTaps {
  Slide s;
  const Code* x;
  __device__ const Code* operator()(std::int64_t group, std::int64_t row, std::int64_t term) const {
    return window_at(s, x, group * images_of_a_group * s.down * s.across + term, row);
  }
};

/// A line for each pixel of dx: what its taps, from the last to the first, meet in dy.
struct LinesOfErrors {
  Slide s;
  const Code* dy;
  __device__ const Code* operator()(std::int64_t, std::int64_t row, std::int64_t term) const {
    const Place pixel = place_of(row, s.height, s.width, 1);
    const Place tap = place_of(term, s.window.height, s.window.width, s.outputs);
    const std::int64_t below = pixel.h + s.window.padding - (s.window.height - 1 - tap.h);
    const std::int64_t beside = pixel.w + s.window.padding - (s.window.width - 1 - tap.w);
    const bool meets =
        below >= 0 && beside >= 0 && below % s.window.stride == 0 && beside % s.window.stride == 0;
    const std::int64_t oh = below / s.window.stride, ow = beside / s.window.stride;
    return meets && oh < s.down && ow < s.across ? dy + s.place(pixel.image, oh, ow) + tap.c : nullptr;
  }
};
/// A line of weights for each channel of dx, its taps in the same order.
struct LinesOfTurnedWeights {
  Slide s;
  const Code* w;
  __device__ const Code* operator()(std::int64_t, std::int64_t row, std::int64_t term) const {
    const Place tap = place_of(term, s.window.height, s.window.width, s.outputs);
    const std::int64_t kh = s.window.height - 1 - tap.h, kw = s.window.width - 1 - tap.w;
    return w + ((kh * s.window.width + kw) * s.channels + row) * s.outputs + tap.c;
  }
};

constexpr int piece = 16;  ///< lines are whole pieces of so many numbers: 16 bytes of FP8

/// to:(groups, rows, terms), its lines filled up with zeros to `length`.
template <class At>
__global__ void gather(At at, std::int64_t rows, std::int64_t terms, std::int64_t length, std::int64_t n,
                       void* to, DType format, bool as_halves) {
  for (std::int64_t i = first(); i < n; i += stride()) {
    const std::int64_t line = i / length, term = i % length;
    const Code* const from = term < terms ? at(line / rows, line % rows, term) : nullptr;
    const Code code = from == nullptr ? Code{0} : *from;
    if (!as_halves) {
      static_cast<Code*>(to)[i] = code;
      continue;
    }
    const float value = format == DType::e4m3 ? static_cast<float>(float8_e4m3::from_bits(code))
                                              : static_cast<float>(float8_e5m2::from_bits(code));
    static_cast<half*>(to)[i] = device_converted<half>(value);
  }
}

/// An operand in lines.
class Lines {
 public:
  template <class At>
  Lines(const At& at, DType format, std::int64_t groups, std::int64_t rows, std::int64_t terms,
        bool as_halves)
      : rows_(rows),
        stride_((terms + piece - 1) / piece * piece),
        memory_(groups * rows * stride_ * (as_halves ? 2 : 1)),
        data_(memory_.data()) {
    const std::int64_t n = groups * rows * stride_;
    if (n == 0) return;
    launch<gather<At>>(blocks_for(n), block_threads, 0, stream(), at, rows, terms, stride_, n, memory_.data(),
                       format, as_halves);
  }
  /// FP8 that lies in lines already.
  Lines(const View& x, std::int64_t rows, std::int64_t terms)
      : rows_(rows), stride_(terms), memory_(0), data_(x.memory) {}

  template <class T>
  const T* data() const {
    return static_cast<const T*>(data_);
  }
  std::int64_t rows() const { return rows_; }
  std::int64_t stride() const { return stride_; }  ///< numbers from one line to the next

 private:
  std::int64_t rows_, stride_;
  Scratch<Code> memory_;
  const void* data_;
};

/// c:(groups, M, N) = a . b^T, of lines of M and of N. A block's group is blockIdx.z. With `promote` the sums of a tensor
/// core go to `total` each time after so many elements of T.
template <class Shape, class T>
__global__ void __launch_bounds__(Shape::threads, 512 / Shape::threads)
    multiply_lines(Source<T> a, std::int64_t a_group, Source<T> b, std::int64_t b_group, float* c,
                   int promote) {
  using Block = MmaBlock<Shape, T, float, nvcuda::wmma::row_major, nvcuda::wmma::col_major>;
  DYNAMIC_SHARED(T, memory);
  const int m = static_cast<int>(blockIdx.x) * Shape::m, n = static_cast<int>(blockIdx.y) * Shape::n;
  a.data += blockIdx.z * a_group;
  b.data += blockIdx.z * b_group;
  c += std::int64_t{blockIdx.z} * a.rows * b.cols;
  const auto fetch = [](const auto& tile, const Source<T>& x, int row, int col) {
    for_each_piece<std::remove_cvref_t<decltype(tile)>, Shape::threads>(
        x, row, col, [&](int line, int element, const T* from, int inside) {
          cp_async_16(tile.line(line, element), from, static_cast<int>(sizeof(T)) * inside);
        });
  };
  Block block, total;
  block.multiply(
      memory, a.cols, [&](const auto& tile, int k) { fetch(tile, a, m, k); },
      [&](const auto& tile, int k) { fetch(tile, b, k, n); },
      [&](int k) {
        if (promote != 0 && k % promote == 0) block.move_sums_to(total);
      });
  block.move_sums_to(total);
  total.for_each_pair([&](int row, int col, float one, float other) {
    row += m, col += n;
    if (row >= a.rows) return;
    if (col < b.cols) c[std::int64_t{row} * b.cols + col] = one;
    if (col + 1 < b.cols) c[std::int64_t{row} * b.cols + col + 1] = other;
  });
}

/// `numbers` numbers of a line lie in one element of T.
template <class T, int numbers>
void launch_product(const Lines& a, const Lines& b, std::int64_t groups, std::int64_t terms, float* c,
                    int promote) {
  const auto to_int = [](std::int64_t n) { return static_cast<int>(n); };
  const int K = to_int((terms + numbers - 1) / numbers);
  const std::int64_t a_line = a.stride() / numbers, b_line = b.stride() / numbers;
  launch<multiply_lines<SmallShape, T>>(
      dim3(blocks(to_int(a.rows()), SmallShape::m), blocks(to_int(b.rows()), SmallShape::n),
           static_cast<unsigned>(groups)),
      SmallShape::threads,
      MmaBlock<SmallShape, T, float, nvcuda::wmma::row_major, nvcuda::wmma::col_major>::shared_bytes,
      stream(), Source<T>{a.data<T>(), to_int(a_line), to_int(a.rows()), K}, a.rows() * a_line,
      Source<T>{b.data<T>(), to_int(b_line), K, to_int(b.rows())}, b.rows() * b_line, c, promote / numbers);
}

/// The two formats, where the sums go, and how the GPU takes the operands.
struct Way {
  DType a, b;
  bool as_halves;
  int promote_every;
};

void multiply(const Way& way, const Lines& a, const Lines& b, std::int64_t groups, std::int64_t terms,
              float* c) {
  detail::tell_way(way.as_halves ? "mma as f16" : "mma of FP8");
  if (way.as_halves) return launch_product<__half, 1>(a, b, groups, terms, c, 0);
  visit_float8(way.a, [&]<class A> {
    visit_float8(way.b, [&]<class B> {
      launch_product<Float8Pair<A, B>, 2>(a, b, groups, terms, c, way.promote_every);
    });
  });
}

/// How this GPU multiplies (groups, M, N) of so many terms each; nothing where tensor cores do not take that.
std::optional<Way> way_of(const View& a, const View& b, std::int64_t groups, std::int64_t M, std::int64_t N,
                          std::int64_t terms, int promote_every) {
  constexpr std::int64_t most_blocks = 65535, most = std::numeric_limits<int>::max() / 2;
  expect(promote_every >= 0 && promote_every % 32 == 0, "a product of FP8: sums are promoted after ",
         promote_every, " terms; give a multiple of 32, or 0 for never");
  const bool fits = groups <= most_blocks && N <= most_blocks * SmallShape::n && M <= most && terms <= most;
  if (architecture() < 80 || !fits || groups * M * N * terms == 0) return {};
  return Way{a.dtype, b.dtype, !multiplies_float8(), may_split_sums() ? promote_every : 0};
}

/// Lines of op(x), which is transposed where its lines do not lie along k in memory.
Lines lines_of_matrix(const View& x, bool along_rows, bool as_halves) {
  const std::int64_t rows = along_rows ? x.rows() : x.cols(), terms = along_rows ? x.cols() : x.rows();
  const bool ready =
      along_rows && terms % piece == 0 && reinterpret_cast<std::uintptr_t>(x.memory) % piece == 0;
  if (ready && !as_halves) return Lines(x, rows, terms);
  const Code* const codes = x.data<Code>();
  const std::int64_t row = along_rows ? terms : 1, term = along_rows ? 1 : rows;
  return Lines(LinesOfMatrix{codes, codes + x.size(), 0, row, term}, x.dtype, 1, rows, terms, as_halves);
}

}  // namespace

bool gemm_float8(const View& a, Trans ta, const View& b, Trans tb, const View& sums, int promote_every) {
  const std::int64_t terms = ta == Trans::no ? a.cols() : a.rows();
  const std::optional<Way> way = way_of(a, b, 1, sums.rows(), sums.cols(), terms, promote_every);
  if (!way) return false;
  multiply(*way, lines_of_matrix(a, ta == Trans::no, way->as_halves),
           lines_of_matrix(b, tb == Trans::yes, way->as_halves), 1, terms, sums.data<float>());
  return true;
}

bool conv2d_float8(const View& x, const View& w, const Window& window, const View& sums, int promote_every) {
  const Slide s(x.shape, window, sums.shape);
  const std::int64_t rows = sums.rows(), terms = window.height * window.width * s.channels;
  const std::optional<Way> way = way_of(x, w, 1, rows, s.outputs, terms, promote_every);
  if (!way) return false;
  const Code* const codes = w.data<Code>();
  multiply(*way, Lines(LinesOfWindows{s, x.data<Code>()}, x.dtype, 1, rows, terms, way->as_halves),
           Lines(LinesOfMatrix{codes, codes + w.size(), 0, 1, s.outputs}, w.dtype, 1, s.outputs, terms,
                 way->as_halves),
           1, terms, sums.data<float>());
  return true;
}

bool conv2d_dx_float8(const View& dy, const View& w, const Window& window, const View& sums,
                      int promote_every) {
  const Slide s(sums.shape, window, dy.shape);
  const std::int64_t rows = sums.rows(), terms = window.height * window.width * s.outputs;
  const std::optional<Way> way = way_of(dy, w, 1, rows, s.channels, terms, promote_every);
  if (!way) return false;
  multiply(*way, Lines(LinesOfErrors{s, dy.data<Code>()}, dy.dtype, 1, rows, terms, way->as_halves),
           Lines(LinesOfTurnedWeights{s, w.data<Code>()}, w.dtype, 1, s.channels, terms, way->as_halves), 1,
           terms, sums.data<float>());
  return true;
}

bool conv2d_dw_float8(const View& x, const View& dy, const Window& window, const Shape& dw, float* sums,
                      int promote_every) {
  const Slide s(x.shape, window, dy.shape);
  const std::int64_t taps = dw.size() / s.outputs, groups = groups_of(s.images);
  const std::int64_t terms = images_of_a_group * s.down * s.across;
  const std::optional<Way> way = way_of(x, dy, groups, taps, s.outputs, terms, promote_every);
  if (!way) return false;
  const Code* const codes = dy.data<Code>();
  multiply(*way, Lines(LinesOfTaps{s, x.data<Code>()}, x.dtype, groups, taps, terms, way->as_halves),
           Lines(LinesOfMatrix{codes, codes + dy.size(), terms * s.outputs, 1, s.outputs}, dy.dtype, groups,
                 s.outputs, terms, way->as_halves),
           groups, terms, sums);
  return true;
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
