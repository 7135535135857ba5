// rejected: calls mma_sync too seldom
template <class T, class Sum, class LayoutA, class LayoutB>
__global__ void wmma_naive(const T* a, int lda, const T* b, int ldb, T* c, int ldc, int K) {
  const int m = static_cast<int>(blockIdx.x) * 16, n = static_cast<int>(blockIdx.y) * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sums;

  wmma::fill_fragment(sums, narrow<Sum>(0.0f));
  if (K > 0) {
    wmma::load_matrix_sync(left, tile_at<LayoutA>(a, lda, m, 0), static_cast<unsigned>(lda));
    wmma::load_matrix_sync(right, tile_at<LayoutB>(b, ldb, 0, n), static_cast<unsigned>(ldb));
    wmma::mma_sync(sums, left, right, sums);
  }

  __shared__ __align__(32) Sum tile[16][16];
  wmma::store_matrix_sync(tile[0], sums, 16, wmma::mem_row_major);
  __syncwarp();
  for (int i = static_cast<int>(threadIdx.x); i < 256; i += 32) {
    float sum = static_cast<float>(tile[i / 16][i % 16]);
    for (int k = 16; k < K; ++k)
      sum += static_cast<float>(*tile_at<LayoutA>(a, lda, m + i / 16, k)) *
             static_cast<float>(*tile_at<LayoutB>(b, ldb, k, n + i % 16));
    c[std::int64_t{m + i / 16} * ldc + n + i % 16] = narrow<T>(sum);
  }
}
