#include <kernels/cpu/fast/gemm_tile.h>
#include <kernels/executors.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/convert_f16c.h>
#include <tinymp/tensor/storage.h>
#include <algorithm>
#include <cstdlib>
#include <string_view>

/// The fast matrix multiplication: pack, then register tiles, in parallel over the tiles of C. Threads split
/// M and N only, and blocks of K take up the tile of C where the last block left it, so every chain stays in
/// order.
namespace tinymp::kernels::cpu {
namespace {

constexpr std::int64_t block_rows = 96, block_columns = 192;  ///< of C, a thread's unit of work
constexpr std::int64_t block_depth = 384;  ///< of K: a block of packed B stays in the L2 cache

std::int64_t round_up(std::int64_t n, std::int64_t multiple) {
  return (n + multiple - 1) / multiple * multiple;
}

/// Pooled memory for floats.
class Scratch {
 public:
  explicit Scratch(std::int64_t floats)
      : storage_(static_cast<std::size_t>(floats) * sizeof(float), Device::cpu) {}
  float* data() { return reinterpret_cast<float*>(storage_.data()); }

 private:
  Storage storage_;
};

/// A matrix in panels of `width` lines (rows of A, columns of B), ordered by k within a panel, zeros past the
/// edge. lines_are_rows: line i of the operand is row i of x in memory; else column i.
void pack(const float* x, std::int64_t stride, bool lines_are_rows, std::int64_t lines, std::int64_t K,
          int width, float* packed) {
  parallel_for((lines + width - 1) / width, 4, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t panel = first; panel < last; ++panel) {
      float* to = packed + panel * width * K;
      const std::int64_t line = panel * width, count = std::min<std::int64_t>(width, lines - line);
      if (count < width) std::fill_n(to, width * K, 0.0f);
      if (lines_are_rows) {
        for (std::int64_t i = 0; i < count; ++i) {
          const float* from = x + (line + i) * stride;
          for (std::int64_t k = 0; k < K; ++k) to[k * width + i] = from[k];
        }
      } else {
        for (std::int64_t k = 0; k < K; ++k) std::copy_n(x + k * stride + line, count, to + k * width);
      }
    }
  });
}

/// x as FP32: its own memory, or `scratch` filled with the widened values.
const float* widened(const View& x, float* scratch) {
  if (x.dtype == DType::f32) return x.data<float>();
  parallel_for(x.size(), 1 << 15, [&](std::int64_t begin, std::int64_t end) {
    const auto n = static_cast<std::size_t>(end - begin);
    visit_dtype(x.dtype, [&]<class T> {
      convert(std::span<const T>(x.data<T>() + begin, n), std::span<float>(scratch + begin, n));
    });
  });
  return scratch;
}

/// One block of C: all of K, in `sums` with the given stride, which starts at zero.
void multiply_block(const GemmTile& tile, const float* a, const float* b, std::int64_t rows,
                    std::int64_t columns, std::int64_t K, float* sums, std::int64_t stride, bool half_sums) {
  for (std::int64_t r = 0; r < rows; ++r) std::fill_n(sums + r * stride, columns, 0.0f);
  for (std::int64_t k = 0; k < K; k += block_depth) {
    const std::int64_t depth = std::min(block_depth, K - k);
    for (std::int64_t c = 0; c < columns; c += tile.columns) {
      for (std::int64_t r = 0; r < rows; r += tile.rows) {
        tile.multiply(depth, a + r * K + k * tile.rows, b + c * K + k * tile.columns, sums + r * stride + c,
                      stride, half_sums);
      }
    }
  }
}

}  // namespace

void gemm(const View& a, Trans ta, const View& b, Trans tb, const View& c, DType accumulate) {
  // The tiles round to half as the processor does; a codec that rounds otherwise takes the plain way.
  const bool half_sums = accumulate == DType::f16;
  if (c.dtype == DType::f64 || (half_sums && !matches_f16c))
    return cpu::gemm_reference(a, ta, b, tb, c, accumulate);
  const GemmTile& tile = gemm_tile();
  const std::int64_t M = c.rows(), N = c.cols(), K = ta == Trans::no ? a.cols() : a.rows();

  Scratch wide_a(a.dtype == DType::f32 ? 0 : a.size()), wide_b(b.dtype == DType::f32 ? 0 : b.size());
  Scratch packed_a(round_up(M, tile.rows) * K), packed_b(round_up(N, tile.columns) * K);
  pack(widened(a, wide_a.data()), a.cols(), ta == Trans::no, M, K, tile.rows, packed_a.data());
  pack(widened(b, wide_b.data()), b.cols(), tb == Trans::yes, N, K, tile.columns, packed_b.data());

  const std::int64_t unit_rows = round_up(block_rows, tile.rows),
                     unit_columns = round_up(block_columns, tile.columns);
  const std::int64_t down = (M + unit_rows - 1) / unit_rows, across = (N + unit_columns - 1) / unit_columns;
  parallel_for(down * across, 1, [&](std::int64_t first, std::int64_t last) {
    Scratch sums(unit_rows * unit_columns);
    for (std::int64_t unit = first; unit < last; ++unit) {
      const std::int64_t m = unit % down * unit_rows, n = unit / down * unit_columns;
      const std::int64_t rows = std::min(unit_rows, M - m), columns = std::min(unit_columns, N - n);
      multiply_block(tile, packed_a.data() + m * K, packed_b.data() + n * K, round_up(rows, tile.rows),
                     round_up(columns, tile.columns), K, sums.data(), unit_columns, half_sums);
      for (std::int64_t r = 0; r < rows; ++r) {
        const std::span<const float> row(sums.data() + r * unit_columns, static_cast<std::size_t>(columns));
        visit_dtype(c.dtype,
                    [&]<class T> { convert(row, std::span<T>(c.data<T>() + (m + r) * N + n, row.size())); });
      }
    }
  });
}

const GemmTile& gemm_tile() {
  static const GemmTile chosen = [] {
    const char* wish = std::getenv("TINYMP_ISA");
    const std::string_view name = wish == nullptr ? "" : wish;
    bool avx2 = false, avx512 = false;
#if defined(__x86_64__)
    avx2 = gemm_tile_avx2().multiply && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           f16c::machine_has();
    avx512 = gemm_tile_avx512().multiply && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
#endif
    if (name != "" && name != "portable" && name != "avx2" && name != "avx512") {
      throw UsageError(concat("TINYMP_ISA is '", name, "': set it to portable, avx2 or avx512, or unset it"));
    }
    if ((name == "avx2" && !avx2) || (name == "avx512" && !avx512)) {
      throw MissingError(concat("TINYMP_ISA asks for ", name, ", which this processor cannot run: unset it"));
    }
    if (avx512 && (name == "" || name == "avx512")) return gemm_tile_avx512();
    if (avx2 && (name == "" || name == "avx2")) return gemm_tile_avx2();
    return gemm_tile_portable();
  }();
  return chosen;
}

}  // namespace tinymp::kernels::cpu
