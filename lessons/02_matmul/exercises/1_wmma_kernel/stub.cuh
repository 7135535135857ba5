// Exercise 2.1: a matrix product on tensor cores.
//
// One warp, 32 threads, computes one tile of 16x16 of c = op(a) . op(b). blockIdx says which tile. op(a) has
// K columns, op(b) has K rows; all sizes are multiples of 16. LayoutA and LayoutB are wmma::row_major or
// col_major: they say how the matrices lie in memory. lda, ldb and ldc are the distances from one row to the
// next (in a col_major matrix: from one column to the next). tile_at<LayoutA>(a, lda, row, col) is the
// address of the tile of op(a) at (row, col).
//
// A fragment is a tile that the 32 lanes of the warp hold together; every lane makes these calls:
//
//     wmma::fill_fragment(sums, value)                        each element becomes value, a Sum
//     wmma::load_matrix_sync(left, address, ld)               a tile from memory; ld is unsigned
//     wmma::mma_sync(sums, left, right, sums)                 sums = left . right + sums
//     wmma::store_matrix_sync(address, sums, ld, wmma::mem_row_major)     to memory, as Sum
//     __syncwarp()                                            after it all lanes see what each wrote before
//
// Only store_matrix_sync knows which lane holds which element, and it stores elements of type Sum, while c
// has type T. So store the sums in `tile`, in shared memory. From there the lanes (threadIdx.x, 0 to 31) read
// them and write narrow<T>(static_cast<float>(...)) to c.
template <class T, class Sum, class LayoutA, class LayoutB>
__global__ void wmma_naive([[maybe_unused]] const T* a, [[maybe_unused]] int lda, [[maybe_unused]] const T* b,
                           [[maybe_unused]] int ldb, [[maybe_unused]] T* c, [[maybe_unused]] int ldc,
                           [[maybe_unused]] int K) {
  // The first row and column of this tile of c.
  [[maybe_unused]] const int m = static_cast<int>(blockIdx.x) * 16, n = static_cast<int>(blockIdx.y) * 16;
  [[maybe_unused]] wmma::fragment<wmma::matrix_a, 16, 16, 16, T, LayoutA> left;
  [[maybe_unused]] wmma::fragment<wmma::matrix_b, 16, 16, 16, T, LayoutB> right;
  [[maybe_unused]] wmma::fragment<wmma::accumulator, 16, 16, 16, Sum> sums;
  [[maybe_unused]] __shared__ __align__(32) Sum tile[16][16];
  // TODO: add up the products of tiles along k, and write the sums to c.
}
