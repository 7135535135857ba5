template <class T, class Sum, class LayoutA, class LayoutB>
__global__ void wmma_naive(const T* a, int lda, const T* b, int ldb, T* c, int ldc, int K) {
  const int m = static_cast<int>(blockIdx.x) * 16, n = static_cast<int>(blockIdx.y) * 16;
  for (int e = static_cast<int>(threadIdx.x); e < 256; e += 32) {
    const int row = m + e / 16, col = n + e % 16;
    float sum = 0;
    for (int k = 0; k < K; ++k)
      sum += static_cast<float>(*tile_at<LayoutA>(a, lda, row, k)) *
             static_cast<float>(*tile_at<LayoutB>(b, ldb, k, col));
    c[std::int64_t{row} * ldc + col] = narrow<T>(sum);
  }
}
