// rejected: shares too little
template <class T, class Sum>
__global__ void tiled(Operand<T> a, Operand<T> b, T* c, int ldc, int M, int N, int K) {
  __shared__ T a_tile[tile_size][tile_size + 1];
  const int first_m = static_cast<int>(blockIdx.x) * tile_size,
            first_n = static_cast<int>(blockIdx.y) * tile_size;
  const int i = static_cast<int>(threadIdx.y), j = static_cast<int>(threadIdx.x);
  const int m = first_m + i, n = first_n + j;
  Sum sum = narrow<Sum>(0.0f);
  for (int first_k = 0; first_k < K; first_k += tile_size) {
    fetch(a_tile, a, first_m, first_k, M, K);
    __syncthreads();
    for (int k = 0; k < tile_size && first_k + k < K && n < N; ++k)
      sum = multiply_add(a_tile[i][k], b(first_k + k, n), sum);
    __syncthreads();
  }
  if (m < M && n < N) c[std::int64_t{m} * ldc + n] = narrow<T>(static_cast<float>(sum));
}
