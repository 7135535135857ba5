#include <kernels/cpu/epilogue.h>
#include <kernels/cpu/fast/pack.h>
#include <kernels/executors.h>
#include <tinymp/base/isa.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/convert.h>
#include <algorithm>

/// The fast matrix multiplication. Threads take pieces of C, never pieces of K, and a block of K takes up the
/// tile of C where the last block left it: so every chain stays in order.
namespace tinymp::kernels::cpu {
namespace {

constexpr std::int64_t block_depth = 256;  ///< of K: a panel of B that is so deep stays in the L1 cache
constexpr std::int64_t most_rows = 384;    ///< of a piece: a block of A stays in the L2 cache
constexpr std::int64_t alone = 1 << 18;    ///< multiplications that are done before another thread is awake

std::int64_t pieces_of(std::int64_t n, std::int64_t length) { return (n + length - 1) / length; }
std::int64_t round_up(std::int64_t n, std::int64_t multiple) { return pieces_of(n, multiple) * multiple; }

struct Product {
  const Tile* tile;
  Matrix a, b;
  Trans ta, tb;
  std::int64_t M, N, K;
  View c;
  Epilogue after;
  bool half_sums;
};

/// How C is cut: into rows first, whose block of A is used again and again; into columns where rows alone do
/// not keep the threads busy.
struct Cut {
  std::int64_t rows, columns;
};

Cut cut_for(const Product& p) {
  if (p.M * p.N * p.K <= alone || threads() == 1) return {most_rows, round_up(p.N, p.tile->columns)};
  const std::int64_t wanted = 2 * threads(), tile_rows = p.tile->rows_for(p.N);
  const std::int64_t rows =
      std::clamp(round_up(pieces_of(p.M, wanted), tile_rows), std::int64_t{96}, most_rows);
  const std::int64_t across = pieces_of(wanted, pieces_of(p.M, rows));
  return {rows, round_up(pieces_of(p.N, across), p.tile->columns)};
}

/// A block of B that the tiles can read: its own memory, or a copy.
struct Panel {
  const float* values;
  std::int64_t row;
};

Panel panel_of(const Product& p, std::int64_t k, std::int64_t depth, std::int64_t n, std::int64_t columns,
               std::int64_t rows, float* memory) {
  const std::int64_t width = p.tile->columns;
  if (p.tb == Trans::yes) {
    const float* lines = static_cast<const float*>(p.b.values) + n * p.b.stride + k;
    std::int64_t stride = p.b.stride;
    if (p.b.dtype != DType::f32) {
      float* wide = memory + width * block_depth;
      copy_block(p.b, n, columns, k, depth, wide, depth);
      lines = wide, stride = depth;
    }
    transpose_block(lines, stride, columns, depth, memory, width);
    return {memory, width};
  }
  const bool read_once = rows <= p.tile->rows || p.N <= width;
  if (p.b.dtype == DType::f32 && read_once)
    return {static_cast<const float*>(p.b.values) + k * p.b.stride + n, p.b.stride};
  copy_block(p.b, k, depth, n, columns, memory, width);
  return {memory, width};
}

/// One piece of C, its sums at `sums`.
void multiply_piece(const Product& p, std::int64_t m, std::int64_t rows, std::int64_t n, std::int64_t columns,
                    float* sums, std::int64_t stride) {
  const Tile& tile = *p.tile;
  const std::int64_t tile_rows = tile.rows_for(columns);
  const bool copy_a = p.a.dtype != DType::f32 || columns > 4 * tile.columns;
  Scratch panel(2 * tile.columns * block_depth), block(copy_a ? rows * (block_depth + 16) : 0);
  for (std::int64_t k = 0; k < p.K; k += block_depth) {
    const std::int64_t depth = std::min(block_depth, p.K - k);
    const bool by_rows = p.ta == Trans::no;
    const float* a =
        static_cast<const float*>(p.a.values) + (by_rows ? m * p.a.stride + k : k * p.a.stride + m);
    std::int64_t a_stride = p.a.stride;
    if (copy_a) {
      a_stride = by_rows ? depth + 16 : rows;
      by_rows ? copy_block(p.a, m, rows, k, depth, block.data(), a_stride)
              : copy_block(p.a, k, depth, m, rows, block.data(), a_stride);
      a = block.data();
    }
    TileWork work;
    work.a_row = by_rows ? a_stride : 1;
    work.k = {.inner = depth, .inner_step = by_rows ? 1 : a_stride};
    work.c_row = stride;
    work.from_zero = k == 0;
    work.half_sums = p.half_sums;
    for (std::int64_t c = 0; c < columns; c += tile.columns) {
      work.columns = static_cast<int>(std::min<std::int64_t>(tile.columns, columns - c));
      const Panel b = panel_of(p, k, depth, n + c, work.columns, rows, panel.data());
      work.b = b.values, work.b_row = b.row;
      for (std::int64_t r = 0; r < rows; r += tile_rows) {
        work.rows = static_cast<int>(std::min(tile_rows, rows - r));
        work.a = a + r * work.a_row;
        work.c = sums + r * stride + c;
        tile.multiply(work);
      }
    }
  }
}

/// A piece from the first product to the last rounding. FP32 sums grow where C lies, others beside it.
void finish_piece(const Product& p, std::int64_t m, std::int64_t rows, std::int64_t n, std::int64_t columns) {
  const bool in_place = p.c.dtype == DType::f32;
  Scratch beside(in_place ? 0 : rows * columns);
  float* sums = in_place ? p.c.data<float>() + m * p.N + n : beside.data();
  const std::int64_t stride = in_place ? p.N : columns;
  if (p.K == 0) {
    for (std::int64_t r = 0; r < rows; ++r) std::fill_n(sums + r * stride, columns, 0.0f);
  }
  multiply_piece(p, m, rows, n, columns, sums, stride);
  finish(sums, stride, rows, columns, p.after, p.c, m, n);
}

}  // namespace

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate,
          const Epilogue& after) {
  if (c.size() == 0) return;
  // The tiles round to half as the processor does; a codec that rounds otherwise takes the plain way.
  const bool half_sums = accumulate == DType::f16;
  if (c.dtype == DType::f64 || (half_sums && !matches_f16c)) {
    cpu::gemm_reference(a, ta, b, tb, c, accumulate);
    return finish(after, c);
  }
  const Product p{.tile = &best_tile(),
                  .a = {a.memory, a.dtype, a.cols()},
                  .b = {b.memory, b.dtype, b.cols()},
                  .ta = ta,
                  .tb = tb,
                  .M = c.rows(),
                  .N = c.cols(),
                  .K = ta == Trans::no ? a.cols() : a.rows(),
                  .c = c,
                  .after = after,
                  .half_sums = half_sums};
  const Cut cut = cut_for(p);
  const std::int64_t down = pieces_of(p.M, cut.rows), across = pieces_of(p.N, cut.columns);
  parallel_for(down * across, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece) {
      const std::int64_t m = piece % down * cut.rows, n = piece / down * cut.columns;
      finish_piece(p, m, std::min(cut.rows, p.M - m), n, std::min(cut.columns, p.N - n));
    }
  });
}

const Tile& best_tile() {
  static const Tile tile = [] {
    switch (isa()) {
      case Isa::avx512:
        return tile_avx512();
      case Isa::avx2:
        return tile_avx2();
      case Isa::portable:
        break;
    }
    return tile_portable();
  }();
  return tile;
}

}  // namespace tinymp::kernels::cpu
