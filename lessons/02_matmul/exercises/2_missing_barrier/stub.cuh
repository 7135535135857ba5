// Exercise 2.2: a missing barrier.
//
// This kernel computes c = op(a) . op(b), op(a):(M,K), op(b):(K,N). Each block has 16x16 threads and computes
// a tile of 16x16 of c; thread (j,i) computes row i, column j of the tile. For each 16 of k the threads fetch
// a tile of a and a tile of b into shared memory. Each thread fetches one element of each tile (0 where the
// tile hangs over the edge of a matrix). Then each thread multiplies a row by a column.
//
// The result is right for one tile of k, and wrong from two tiles on: a barrier is missing. __syncthreads()
// is a barrier: each thread waits there until all threads of the block have come.
//
// TODO: put it where it is missing.
template <class T, class Sum>
__global__ void tiled(Operand<T> a, Operand<T> b, T* c, int ldc, int M, int N, int K) {
  __shared__ T a_tile[tile_size][tile_size + 1];
  __shared__ T b_tile[tile_size][tile_size + 1];
  const int first_m = static_cast<int>(blockIdx.x) * tile_size,
            first_n = static_cast<int>(blockIdx.y) * tile_size;
  const int i = static_cast<int>(threadIdx.y), j = static_cast<int>(threadIdx.x);
  const int m = first_m + i, n = first_n + j;
  Sum sum = narrow<Sum>(0.0f);
  for (int first_k = 0; first_k < K; first_k += tile_size) {
    fetch(a_tile, a, first_m, first_k, M, K);
    fetch(b_tile, b, first_k, first_n, K, N);
    __syncthreads();  // all have fetched: now it may be read
    for (int k = 0; k < tile_size; ++k) sum = multiply_add(a_tile[i][k], b_tile[k][j], sum);
  }
  if (m < M && n < N) c[std::int64_t{m} * ldc + n] = narrow<T>(static_cast<float>(sum));
}
