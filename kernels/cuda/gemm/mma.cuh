#pragma once

#include <kernels/cuda/gemm/mma_tile.h>
#include <kernels/cuda/last_block.h>

/// Rung 6: the instructions themselves (mma_tile.h). It waits for the tensor cores: mma.sync reaches about 62 % of the peak
/// of Hopper (Luo et al. 2024, "Benchmarking and Dissecting the Nvidia Hopper GPU Architecture"), where wgmma
/// reaches all of it. 6.3 instructions for each HMMA: at most 64 %. A product that is too small for its tiles to fill a
/// GPU gets smaller ones, with 15 instructions for each HMMA. Rows that are not aligned to 16 bytes cost half as much again to
/// twice as much; rows that begin anywhere take small tiles, with 24. A small product with long sums splits them
/// (GemmProblem::parts).
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// With fewer blocks than these half of a large GPU would have nothing to do.
constexpr unsigned blocks_that_fill_a_gpu = 64;

/// The blocks of a tile that have finished their part, of all tiles that are split. Launches follow each other on one
/// stream, so one list serves them all.
constexpr unsigned most_split_tiles = 128;
__device__ std::uint32_t finished_parts[most_split_tiles];

/// A sum in parts: blockIdx.z is the part, `sums` has room for all sums of all parts.
struct Parts {
  int terms;
  float* sums;
};

/// Leaves the sums of this block's part in memory. In the last block of a tile they become those of all parts.
template <int threads, class Block>
__device__ bool join_parts(const Parts& parts, Block& block) {
  const unsigned tile = blockIdx.y * gridDim.x + blockIdx.x;
  const auto sums_of = [&](unsigned part) {
    return parts.sums + ((std::size_t{tile} * gridDim.z + part) * Block::lane_sums) * threads + threadIdx.x;
  };
  float* const mine = sums_of(blockIdx.z);
  block.for_each_sum([&](int i, float& sum) { mine[i * threads] = sum; });
  if (!is_last_block(&finished_parts[tile], gridDim.z)) return false;
  block.for_each_sum([&](int i, float& sum) {
    sum = sums_of(0)[i * threads];
    for (unsigned part = 1; part < gridDim.z; ++part) sum += sums_of(part)[i * threads];
  });
  return true;
}

template <class Shape, int width, class T, class Sum, class LayoutA, class LayoutB>
__global__ void __launch_bounds__(Shape::threads, 512 / Shape::threads)
    mma(Source<T> a, Source<T> b, T* c, int ldc, bool pairs, Finish<T> finish, Parts parts) {
  DYNAMIC_SHARED(T, memory);
  const int m = static_cast<int>(blockIdx.x) * Shape::m, n = static_cast<int>(blockIdx.y) * Shape::n;
  const int begin = static_cast<int>(blockIdx.z) * parts.terms;
  const int terms = a.cols - begin < parts.terms ? a.cols - begin : parts.terms;
  MmaBlock<Shape, T, Sum, LayoutA, LayoutB> block;
  block.multiply(
      memory, terms,
      [&](const auto& tile, int k) { fetch_swizzled<width, Shape::threads>(tile, a, m, begin + k); },
      [&](const auto& tile, int k) { fetch_swizzled<width, Shape::threads>(tile, b, begin + k, n); });
  if constexpr (std::is_same_v<Sum, float>) {
    if (gridDim.z > 1 && !join_parts<Shape::threads>(parts, block)) return;
  }
  block.for_each_pair([&](int row, int col, float first, float second) {
    row += m, col += n;
    store_pair(c + std::int64_t{row} * ldc + col, row < a.rows ? b.cols - col : 0, pairs, finish(first, col),
               finish(second, col + 1));
  });
}

/// Calls run(Type<Shape>, width).
template <class Run>
void with_shape(const GemmProblem& p, int width, Run&& run) {
  static_assert(SmallShape::m == split_tile_m && SmallShape::n == split_tile_n);
  const bool large =
      p.parts == 1 && blocks(p.M, BlockShape::m) * blocks(p.N, BlockShape::n) >= blocks_that_fill_a_gpu;
  const auto with_width = [&](auto of) { large ? run(Type<BlockShape>(), of) : run(Type<SmallShape>(), of); };
  if (width == 8) return with_width(std::integral_constant<int, 8>());
  if (width == 2) return with_width(std::integral_constant<int, 2>());
  run(Type<SmallShape>(), std::integral_constant<int, 1>());  // a large one was not tried
}

}  // namespace

void gemm_mma(const GemmProblem& p, Stream stream) {
  if (p.M == 0 || p.N == 0) return;
  const auto every = [&](const void* x, int ld, unsigned bytes) {  // all lines begin at multiples of `bytes`
    return reinterpret_cast<std::uintptr_t>(x) % bytes == 0 && 2u * static_cast<unsigned>(ld) % bytes == 0;
  };
  const auto both = [&](unsigned bytes) { return every(p.a, p.lda, bytes) && every(p.b, p.ldb, bytes); };
  const int width = both(16) ? 8 : both(4) ? 2 : 1;
  with_16_bit_types(p, [&]<class T, class Sum>(Type<T>, Type<Sum>) {
    const Source<T> a{static_cast<const T*>(p.a), p.lda, p.M, p.K},
        b{static_cast<const T*>(p.b), p.ldb, p.K, p.N};
    with_layouts(p, [&]<class A, class B>(Type<A>, Type<B>) {
      with_shape(p, width, [&]<class Shape, int of>(Type<Shape>, std::integral_constant<int, of>) {
        using Block = MmaBlock<Shape, T, Sum, A, B>;
        const int terms = terms_of_part(p);
        const dim3 grid(blocks(p.M, Shape::m), blocks(p.N, Shape::n), p.parts > 1 ? blocks(p.K, terms) : 1);
        expect(grid.z == 1 || (std::is_same_v<Sum, float> && grid.x * grid.y <= most_split_tiles),
               "gemm: sums in FP16, and those of ", grid.x * grid.y, " tiles, are not split");
        launch<mma<Shape, of, T, Sum, A, B>>(grid, Shape::threads, Block::shared_bytes, stream, a, b,
                                             static_cast<T*>(p.c), p.ldc, every(p.c, p.ldc, 4),
                                             Finish<T>{static_cast<const T*>(p.bias), p.N, p.relu},
                                             Parts{grid.z == 1 ? p.K : terms, p.part_sums});
      });
    });
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
