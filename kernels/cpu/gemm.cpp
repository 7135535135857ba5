#include <kernels/cpu/gemm/epilogue.h>
#include <kernels/cpu/gemm/pack.h>
#include <kernels/executors.h>
#include <tinymp/base/isa.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/convert.h>
#include <algorithm>
#include <utility>

/// The fast matrix multiplication. Threads take pieces of C, never pieces of K. A block of K continues the
/// sums in C where the last block left them. So every chain stays in order.
namespace tinymp::kernels::cpu {
namespace {

constexpr std::int64_t block_depth = 512;    ///< block of K: a tile's rows of A then fit the L1 cache
constexpr std::int64_t group_columns = 256;  ///< columns of B: such a block of B fits the L2 cache
constexpr std::int64_t most_rows = 384;      ///< rows of a piece: its block of A fits there, too
constexpr std::int64_t widened_at_once = 2048;

std::int64_t pieces_of(std::int64_t n, std::int64_t length) { return (n + length - 1) / length; }
std::int64_t round_up(std::int64_t n, std::int64_t multiple) { return pieces_of(n, multiple) * multiple; }

struct Product {
  const Tile* tile;
  Matrix a, b;
  Trans ta, tb;
  std::int64_t M, N, K;
  View c;
  Ending end;
  bool half_sums;
  std::int64_t depth;               ///< of the blocks of K: equal, for each one reads and writes all of C
  const float* packed_b = nullptr;  ///< all of B in panels, when several pieces of C need the same ones
};

/// The size of the pieces of C. C is cut into rows first, because a piece of rows uses its block of A again
/// and again. It is cut into columns only when the rows alone do not keep the threads busy.
struct Cut {
  std::int64_t rows, columns;
};

/// The number of panels of B for a piece when `down` pieces of rows share them: the largest number up to
/// `most` that keeps the threads at work for equal times. Every piece makes its own copy of A, so fewer
/// panels have to save a 32nd of the time.
std::int64_t panels_of_a_piece(std::int64_t panels, std::int64_t most, std::int64_t down) {
  const std::int64_t several = threads();
  const auto longest = [&](std::int64_t width) {
    const std::int64_t whole = down * (panels / width), rest = panels % width;
    return pieces_of(whole, several) * width + (whole % several == 0 ? rest : 0);
  };
  std::int64_t best = most;
  for (std::int64_t width = most - 1; width >= std::max<std::int64_t>(1, most / 4); --width) {
    if (longest(width) + longest(best) / 32 < longest(best)) best = width;
  }
  return best;
}

Cut cut_for(const Product& p) {
  const std::int64_t width = p.tile->columns, panels = pieces_of(p.N, width);
  if (p.M * p.N * p.K <= alone || threads() == 1) return {most_rows, panels * width};
  const std::int64_t wanted = 2 * threads(), tile_rows = p.tile->rows_for(p.N);
  const std::int64_t shares = round_up(std::max(wanted, pieces_of(p.M, most_rows)), threads());
  const std::int64_t rows = std::max(round_up(pieces_of(p.M, shares), tile_rows), std::int64_t{96});
  const std::int64_t down = pieces_of(p.M, rows), across = pieces_of(wanted, down);
  if (across == 1) return {rows, panels * width};
  return {rows, width * panels_of_a_piece(panels, pieces_of(panels, across), down)};
}

/// Packs rows k .. k + depth, columns n .. n + columns of B into panels as wide as a tile. The panels lie one
/// after the other, each row by row. The loop reads whole rows: the rows of one panel are short pieces of
/// cache lines far apart.
void pack_b(const Product& p, std::int64_t k, std::int64_t depth, std::int64_t n, std::int64_t columns,
            float* panels) {
  const std::int64_t width = p.tile->columns;
  alignas(64) float wide[widened_at_once];
  if (p.tb == Trans::yes) {
    for (std::int64_t c = 0; c < columns; c += 4) {  // four rows of B as it lies are four columns of a panel
      const std::int64_t lines = std::min<std::int64_t>(4, columns - c);
      const float* from = static_cast<const float*>(p.b.values) + (n + c) * p.b.stride + k;
      float four[4 * block_depth];
      const bool widens = p.b.dtype != DType::f32;
      if (widens) copy_block(p.b, n + c, lines, k, depth, four, depth);
      transpose_block(widens ? four : from, widens ? depth : p.b.stride, lines, depth,
                      panels + c / width * width * depth + c % width, width);
    }
    return;
  }
  const bool widens = p.b.dtype != DType::f32;
  const std::int64_t lines = widens ? widened_at_once / columns : depth;
  for (std::int64_t first = 0; first < depth; first += lines) {
    const std::int64_t count = std::min(lines, depth - first);
    if (widens) copy_block(p.b, k + first, count, n, columns, wide, columns);
    for (std::int64_t i = first; i < first + count; ++i) {
      const float* row = widens ? wide + (i - first) * columns
                                : static_cast<const float*>(p.b.values) + (k + i) * p.b.stride + n;
      for (std::int64_t c = 0; c < columns; c += width)
        std::copy_n(row + c, std::min(width, columns - c), panels + c * depth + i * width);
    }
  }
}

/// A block that the tiles can read: a matrix's own memory, or a copy.
struct Readable {
  const float* values;
  std::int64_t stride;
};

/// The distance between rows of a copy of A: an odd number of values.
std::int64_t row_of_copy(std::int64_t depth) { return (depth + 16) | 1; }

/// Rows m .. m + rows of op(A), k .. k + depth, in A's own order. Rows of a copy are an odd number of values
/// apart. So they do not all need a new cache line at the same k, and do not all fall into the same set of
/// the cache.
Readable block_of_a(const Product& p, std::int64_t m, std::int64_t rows, std::int64_t k, std::int64_t depth,
                    float* copy) {
  const bool by_rows = p.ta == Trans::no;
  const std::int64_t i = by_rows ? m : k, j = by_rows ? k : m;
  if (copy == nullptr) return {static_cast<const float*>(p.a.values) + i * p.a.stride + j, p.a.stride};
  const std::int64_t stride = by_rows ? row_of_copy(depth) : rows;
  copy_block(p.a, i, by_rows ? rows : depth, j, by_rows ? depth : rows, copy, stride);
  return {copy, stride};
}

/// Whether B is read in place: when it is read once, or is as narrow as a panel. Otherwise it is packed into
/// panels.
bool reads_b_as_it_lies(const Product& p, std::int64_t rows) {
  const bool as_it_lies = p.b.dtype == DType::f32 && p.tb == Trans::no;
  return as_it_lies && (rows <= p.tile->rows || p.N <= p.tile->columns);
}

/// The panels that begin at row k of B, from column n on.
float* panels_at(const Product& p, float* packed, std::int64_t k, std::int64_t depth, std::int64_t n) {
  return packed + k * round_up(p.N, p.tile->columns) + n * depth;
}

void pack_all_of_b(const Product& p, float* packed) {
  const std::int64_t across = pieces_of(p.N, group_columns), down = pieces_of(p.K, p.depth);
  parallel_for(across * down, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t k = i / across * p.depth, n = i % across * group_columns;
      const std::int64_t depth = std::min(p.depth, p.K - k);
      pack_b(p, k, depth, n, std::min(group_columns, p.N - n), panels_at(p, packed, k, depth, n));
    }
  });
}

/// Multiplies a block of A by columns of B. A tile's rows of A stay in the L1 cache while B streams from the
/// L2 cache.
void multiply_block(const Tile& tile, TileWork work, std::int64_t rows, std::int64_t columns,
                    std::int64_t b_step) {
  const float *const a = work.a, *const b = work.b;
  float* const c = work.c;
  const std::int64_t tile_rows = tile.rows_for(columns);
  for (std::int64_t r = 0; r < rows; r += tile_rows) {
    work.rows = static_cast<int>(std::min(tile_rows, rows - r));
    work.a = a + r * work.a_row;
    for (std::int64_t n = 0; n < columns; n += tile.columns) {
      work.columns = static_cast<int>(std::min<std::int64_t>(tile.columns, columns - n));
      work.b = b + n * b_step;
      work.c = c + r * work.c_row + n;
      tile.multiply(work);
    }
  }
}

/// Computes the sums of one piece of C at `sums`.
void multiply_piece(const Product& p, std::int64_t m, std::int64_t rows, std::int64_t n, std::int64_t columns,
                    float* sums, std::int64_t stride) {
  const Tile& tile = *p.tile;
  const bool copy_a = p.a.dtype != DType::f32 || columns > (p.ta == Trans::no ? 4 : 1) * tile.columns;
  const bool read_b = reads_b_as_it_lies(p, rows), pack = !read_b && p.packed_b == nullptr;
  const std::int64_t group = std::min(group_columns, round_up(columns, tile.columns));
  Scratch<float> panels(pack ? group * p.depth : 0), block(copy_a ? rows * row_of_copy(p.depth) : 0);
  for (std::int64_t k = 0; k < p.K; k += p.depth) {
    const std::int64_t depth = std::min(p.depth, p.K - k);
    const Readable a = block_of_a(p, m, rows, k, depth, copy_a ? block.data() : nullptr);
    TileWork work;
    work.a = a.values, work.a_row = p.ta == Trans::no ? a.stride : 1;
    work.k = {.inner = depth, .inner_step = p.ta == Trans::no ? 1 : a.stride};
    work.b_row = read_b ? p.b.stride : tile.columns;
    work.c_row = stride;
    work.from_zero = k == 0;
    work.half_sums = p.half_sums;
    for (std::int64_t c = 0; c < columns; c += group) {
      const std::int64_t count = std::min(group, columns - c);
      if (pack) pack_b(p, k, depth, n + c, count, panels.data());
      work.b = pack     ? panels.data()
               : read_b ? static_cast<const float*>(p.b.values) + k * p.b.stride + n + c
                        : panels_at(p, const_cast<float*>(p.packed_b), k, depth, n + c);
      work.c = sums + c;
      multiply_block(tile, work, rows, count, read_b ? 1 : depth);
    }
  }
}

/// Computes a piece from the first product to the last rounding. FP32 sums are built in C itself, others
/// beside it.
void finish_piece(const Product& p, std::int64_t m, std::int64_t rows, std::int64_t n, std::int64_t columns) {
  const bool in_place = p.c.dtype == DType::f32;
  Scratch<float> beside(in_place ? 0 : rows * columns);
  float* sums = in_place ? p.c.data<float>() + m * p.N + n : beside.data();
  const std::int64_t stride = in_place ? p.N : columns;
  if (p.K == 0) {
    for (std::int64_t r = 0; r < rows; ++r) std::fill_n(sums + r * stride, columns, 0.0f);
  }
  multiply_piece(p, m, rows, n, columns, sums, stride);
  finish(sums, stride, rows, columns, p.end, p.c, m, n);
}

void multiply(Product p) {
  const Cut cut = cut_for(p);
  const std::int64_t down = pieces_of(p.M, cut.rows), across = pieces_of(p.N, cut.columns);
  // Short pieces of rows are slow to widen, so they are widened once for all. Long ones are widened by each
  // piece of C, which needs no copy of all of B.
  const bool widens_short = p.b.dtype != DType::f32 && p.tb == Trans::no && cut.columns < group_columns;
  const bool several = down > 1 || (across > 1 && widens_short);
  const bool share_b = several && !reads_b_as_it_lies(p, cut.rows);
  Scratch<float> packed_b(share_b ? round_up(p.N, p.tile->columns) * p.K : 0);
  if (share_b) {
    pack_all_of_b(p, packed_b.data());
    p.packed_b = packed_b.data();
  }
  parallel_for(down * across, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t piece = first; piece < last; ++piece) {
      const std::int64_t m = piece % down * cut.rows, n = piece / down * cut.columns;
      finish_piece(p, m, std::min(cut.rows, p.M - m), n, std::min(cut.columns, p.N - n));
    }
  });
}

/// Whether C^T = B^T A^T is faster. A few columns leave most of a register idle. When A lies in memory as the
/// right operand of this product needs it, the product has the same sums, and its rows are long.
bool is_better_turned(const Product& p) {
  return p.ta == Trans::yes && p.tb == Trans::no && p.N < p.tile->width && p.M >= 2 * p.tile->columns;
}

void multiply_turned(const Product& p) {
  const bool in_place = p.c.dtype == DType::f32;
  const Scratch<float> turned(p.M * p.N), beside(in_place ? 0 : p.M * p.N);
  float* sums = in_place ? p.c.data<float>() : beside.data();
  Product q = p;
  std::swap(q.a, q.b);
  std::swap(q.M, q.N);
  q.c = {turned.data(), DType::f32, Device::cpu, {p.N, p.M}};
  q.end = {};
  multiply(q);
  transpose_block(turned.data(), p.M, p.N, p.M, sums, p.N);
  finish(sums, p.N, p.M, p.N, p.end, p.c, 0, 0);
}

}  // namespace

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate,
          const Epilogue& after) {
  if (c.size() == 0) return;
  if (by_definition(c.dtype, accumulate)) {
    cpu::gemm_reference(a, ta, b, tb, c, accumulate);
    return finish(after, c);
  }
  const std::int64_t K = ta == Trans::no ? a.cols() : a.rows();
  const Product p{
      .tile = &best_tile(),
      .a = {a.memory, a.dtype, a.cols()},
      .b = {b.memory, b.dtype, b.cols()},
      .ta = ta,
      .tb = tb,
      .M = c.rows(),
      .N = c.cols(),
      .K = K,
      .c = c,
      .end = ending(after, a),
      .half_sums = accumulate == DType::f16,
      .depth = std::max<std::int64_t>(1, pieces_of(K, pieces_of(std::max<std::int64_t>(1, K), block_depth)))};
  is_better_turned(p) ? multiply_turned(p) : multiply(p);
}

const Tile& best_tile() {
  static const Tile tile = [] {
    // A build for another processor has no code for the wide tiles.
    if (isa() >= Isa::avx512 && tile_avx512().multiply != nullptr) return tile_avx512();
    if (isa() >= Isa::avx2 && tile_avx2().multiply != nullptr) return tile_avx2();
    return tile_portable();
  }();
  return tile;
}

}  // namespace tinymp::kernels::cpu
