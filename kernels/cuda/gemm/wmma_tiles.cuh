#pragma once

#include <kernels/cuda/gemm/types.h>
#include <kernels/cuda/gemm/wmma_tiles.h>

/// One instruction alone, with FP32 going in and out: what a tensor core computes shows in its last bits.
namespace tinymp::kernels::TINYMP_EXECUTOR {
namespace {

template <class T>
__global__ void one_tile(const T* a, const T* b, const float* c, float* d) {
  using namespace nvcuda::wmma;
  const std::int64_t at = std::int64_t{blockIdx.x} * 256;
  fragment<matrix_a, 16, 16, 16, T, row_major> left;
  fragment<matrix_b, 16, 16, 16, T, row_major> right;
  fragment<accumulator, 16, 16, 16, float> sums;
  load_matrix_sync(left, a + at, 16);
  load_matrix_sync(right, b + at, 16);
  load_matrix_sync(sums, c + at, 16, mem_row_major);
  mma_sync(sums, left, right, sums);
  store_matrix_sync(d + at, sums, 16, mem_row_major);
}

}  // namespace

void wmma_tiles(const TileBatch& tiles, Stream stream) {
  const auto run = [&]<class T>(Type<T>) {
    launch<one_tile<T>>(static_cast<unsigned>(tiles.count), 32, 0, stream, static_cast<const T*>(tiles.a),
                        static_cast<const T*>(tiles.b), tiles.c, tiles.d);
  };
  if (tiles.format == Format::bf16) {
    run(Type<__nv_bfloat16>());
  } else {
    run(Type<__half>());
  }
}

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
