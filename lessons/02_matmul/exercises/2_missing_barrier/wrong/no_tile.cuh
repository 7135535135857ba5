template <class T, class Sum>
__global__ void tiled(Operand<T> a, Operand<T> b, T* c, int ldc, int M, int N, int K) {
  const int m = static_cast<int>(blockIdx.x) * tile_size + static_cast<int>(threadIdx.y),
            n = static_cast<int>(blockIdx.y) * tile_size + static_cast<int>(threadIdx.x);
  if (m >= M || n >= N) return;
  Sum sum = narrow<Sum>(0.0f);
  for (int k = 0; k < K; ++k) sum = multiply_add(a(m, k), b(k, n), sum);
  c[std::int64_t{m} * ldc + n] = narrow<T>(static_cast<float>(sum));
}
