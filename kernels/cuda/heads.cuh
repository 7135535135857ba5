#pragma once

#include <kernels/cuda/gemm/mma_tile.h>
#include <kernels/cuda/values.h>
#include <kernels/formulas/attention.h>
#include <kernels/profile.h>
#include <limits>

/// The products of attention: one for each head of each text, all in one launch. 16 bits go to the tensor cores, as in rung
/// 6 of the ladder, where rows begin at multiples of 4 bytes; all else goes through shared memory, as in rung 2.
/// UNTESTED ON HARDWARE.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

/// A grid has at most so many blocks along z; a block goes on with a further matrix. The emulation takes few, so that its tests
/// see blocks go on.
#if defined(__CUDACC__)
constexpr std::int64_t most_matrices = 65535;
#else
constexpr std::int64_t most_matrices = 3;
#endif

struct HeadProblem {
  std::int64_t matrices;
  int M, N, K;
};

/// op(x) of one matrix in any format.
struct HeadOperand {
  Values x;
  HeadMatrices of;
  bool transposed;

  template <class C>
  __device__ C get(std::int64_t first, int row, int col) const {
    return x.get<C>(first + (transposed ? col * of.ld + row : row * of.ld + col));
  }
};

constexpr int head_tile = 16;

template <class C>
__global__ void tiled_heads(HeadOperand a, HeadOperand b, Values c, HeadMatrices of_c, HeadProblem p) {
  __shared__ C a_tile[head_tile][head_tile + 1];
  __shared__ C b_tile[head_tile][head_tile + 1];
  const int i = static_cast<int>(threadIdx.y), j = static_cast<int>(threadIdx.x);
  const int m = static_cast<int>(blockIdx.x) * head_tile + i,
            n = static_cast<int>(blockIdx.y) * head_tile + j;
  for (std::int64_t matrix = blockIdx.z; matrix < p.matrices; matrix += gridDim.z) {
    const std::int64_t of_a = a.of.first_of(matrix), of_b = b.of.first_of(matrix);
    C sum = 0;
    for (int k = 0; k < p.K; k += head_tile) {
      a_tile[i][j] = m < p.M && k + j < p.K ? a.get<C>(of_a, m, k + j) : C(0);
      b_tile[i][j] = k + i < p.K && n < p.N ? b.get<C>(of_b, k + i, n) : C(0);
      __syncthreads();  // all have fetched: now it may be read
      for (int t = 0; t < head_tile; ++t) sum = std::fma(a_tile[i][t], b_tile[t][j], sum);
      __syncthreads();  // all have read: now it may be overwritten
    }
    if (m < p.M && n < p.N) c.set(of_c.first_of(matrix) + m * of_c.ld + n, sum);
  }
}

/// Writes two neighbours as R: T, or float for scores.
template <class R>
__device__ void store_two(R* to, int inside, float first, float second) {
  if (inside >= 1) to[0] = narrow<R>(first);
  if (inside >= 2) to[1] = narrow<R>(second);
}

/// What a matrix is copied from: `whole` begins at the first of all matrices.
template <class T>
struct HeadSource {
  Source<T> whole;
  HeadMatrices of;

  __device__ Source<T> at(std::int64_t matrix) const {
    Source<T> one = whole;
    one.data += of.first_of(matrix);
    return one;
  }
};

template <int width, class T, class R, class LayoutA, class LayoutB>
__global__ void __launch_bounds__(SmallShape::threads, 512 / SmallShape::threads)
    mma_heads(HeadSource<T> a, HeadSource<T> b, R* c, HeadMatrices of_c, HeadProblem p) {
  using Shape = SmallShape;
  DYNAMIC_SHARED(T, memory);
  const int m = static_cast<int>(blockIdx.x) * Shape::m, n = static_cast<int>(blockIdx.y) * Shape::n;
  for (std::int64_t matrix = blockIdx.z; matrix < p.matrices; matrix += gridDim.z) {
    const Source<T> left = a.at(matrix), right = b.at(matrix);
    MmaBlock<Shape, T, float, LayoutA, LayoutB> block;
    block.multiply(
        memory, p.K,
        [&](const auto& tile, int k) { fetch_swizzled<width, Shape::threads>(tile, left, m, k); },
        [&](const auto& tile, int k) { fetch_swizzled<width, Shape::threads>(tile, right, k, n); });
    R* const to = c + of_c.first_of(matrix);
    block.for_each_pair([&](int row, int col, float first, float second) {
      row += m, col += n;
      if (row < p.M) store_two(to + row * of_c.ld + col, p.N - col, first, second);
    });
    __syncthreads();  // all have read their tiles: the next matrix may overwrite them
  }
}

/// True if every row of every matrix begins at a multiple of so many elements of 16 bits.
bool begins_at_multiples(const View& x, const HeadMatrices& of, std::int64_t elements) {
  return reinterpret_cast<std::uintptr_t>(x.memory) % static_cast<std::uintptr_t>(2 * elements) == 0 &&
         of.ld % elements == 0 && of.text % elements == 0 && of.head % elements == 0;
}

template <class T, class R, class LayoutA, class LayoutB>
void run_on_tensor_cores(const View& a, const View& b, const View& c, std::int64_t heads,
                         const HeadProblem& p, dim3 grid) {
  const HeadMatrices of_a = HeadMatrices::of(a, heads), of_b = HeadMatrices::of(b, heads);
  const HeadSource<T> left{{static_cast<const T*>(a.memory), static_cast<int>(of_a.ld), p.M, p.K}, of_a},
      right{{static_cast<const T*>(b.memory), static_cast<int>(of_b.ld), p.K, p.N}, of_b};
  const auto run = [&]<int width>(std::integral_constant<int, width>) {
    launch<mma_heads<width, T, R, LayoutA, LayoutB>>(
        grid, SmallShape::threads, MmaBlock<SmallShape, T, float, LayoutA, LayoutB>::shared_bytes, stream(),
        left, right, static_cast<R*>(c.memory), HeadMatrices::of(c, heads), p);
  };
  const bool wide = begins_at_multiples(a, of_a, 8) && begins_at_multiples(b, of_b, 8);
  wide ? run(std::integral_constant<int, 8>()) : run(std::integral_constant<int, 2>());
}

/// The three products of attention, by how they transpose: scores and their gradient are a . b^T in FP32, outputs and
/// gradients of the queries a . b, those of keys and values a^T . b.
template <class T>
bool run_as_known(const View& a, Trans ta, const View& b, Trans tb, const View& c, std::int64_t heads,
                  const HeadProblem& p, dim3 grid) {
  using Rows = nvcuda::wmma::row_major;
  using Columns = nvcuda::wmma::col_major;
  const bool narrow_result = c.dtype == a.dtype;
  if (ta == Trans::no && tb == Trans::yes && c.dtype == DType::f32) {
    run_on_tensor_cores<T, float, Rows, Columns>(a, b, c, heads, p, grid);
  } else if (ta == Trans::no && tb == Trans::no && narrow_result) {
    run_on_tensor_cores<T, T, Rows, Rows>(a, b, c, heads, p, grid);
  } else if (ta == Trans::yes && tb == Trans::no && narrow_result) {
    run_on_tensor_cores<T, T, Columns, Rows>(a, b, c, heads, p, grid);
  } else {
    return false;
  }
  return true;
}

dim3 grid_of(const HeadProblem& p, int tile_m, int tile_n) {
  return {blocks(p.M, tile_m), blocks(p.N, tile_n),
          static_cast<unsigned>(std::min(p.matrices, most_matrices))};
}

bool takes_tensor_cores(const View& a, const View& b, std::int64_t heads) {
  return is_narrow(a.dtype) && architecture() >= rules_of(Rung::mma).architecture &&
         begins_at_multiples(a, HeadMatrices::of(a, heads), 2) &&
         begins_at_multiples(b, HeadMatrices::of(b, heads), 2);
}

}  // namespace

void gemm_of_heads(const View& a, Trans ta, const View& b, Trans tb, const View& c, std::int64_t heads) {
  if (c.size() == 0) return;
  const HeadMatrices of_a = HeadMatrices::of(a, heads), of_b = HeadMatrices::of(b, heads),
                     of_c = HeadMatrices::of(c, heads);
  const auto size = [](std::int64_t n) {
    expect(n <= std::numeric_limits<int>::max(), "gemm_of_heads: a size of ", n,
           " is too large for the GPU kernels, which count in 32 bits");
    return static_cast<int>(n);
  };
  for (const HeadMatrices& of : {of_a, of_b, of_c}) size(of.ld);
  const HeadProblem p{c.shape[0] * heads, size(of_c.rows), size(of_c.cols),
                      size(ta == Trans::no ? of_a.cols : of_a.rows)};
  if (takes_tensor_cores(a, b, heads)) {
    const dim3 grid = grid_of(p, SmallShape::m, SmallShape::n);
    detail::tell_way("mma");
    if (a.dtype == DType::f16 ? run_as_known<__half>(a, ta, b, tb, c, heads, p, grid)
                              : run_as_known<__nv_bfloat16>(a, ta, b, tb, c, heads, p, grid))
      return;
  }
  detail::tell_way("tiled");
  with_compute_type(a.dtype, [&]<class C> {
    launch<tiled_heads<C>>(grid_of(p, head_tile, head_tile), dim3(head_tile, head_tile), 0, stream(),
                           HeadOperand{values(a), of_a, ta == Trans::yes},
                           HeadOperand{values(b), of_b, tb == Trans::yes}, values(c), of_c, p);
  });
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
