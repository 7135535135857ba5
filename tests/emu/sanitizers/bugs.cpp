#include <kernels/cuda/ptx.h>
#include <kernels/emu/memory.h>
#include <tinymp/base/error.h>
#include <cstdio>
#include <functional>
#include <map>
#include <string>

// usage: bugs NAME. Runs one kernel with a bug that only a sanitizer can name; `clean` runs those without
// one. The program is built with -fsanitize=thread or -fsanitize=address, and the report is compared with the
// numbered lines below (tests.cmake).
namespace tinymp::kernels::emu {
namespace {

constexpr unsigned all = 0xffff'ffffu;

// Races.
// -----------------------------------------------------------------------------------------------

template <bool barrier>
__global__ void turn_around(const float* in, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = in[threadIdx.x];  // line: race_write
  if (barrier) __syncthreads();
  out[threadIdx.x] = tile[63 - threadIdx.x];  // line: race_read
}

/// Tiles of a sum: the second barrier, after the reads, is as needed as the first.
template <bool second_barrier>
__global__ void sum_tiles(const float* in, float* out) {
  __shared__ float tile[32];
  float sum = 0;
  for (unsigned first = 0; first < 64; first += 32) {
    tile[threadIdx.x] = in[first + threadIdx.x];  // line: tile_write
    __syncthreads();
    for (const float x : tile) sum += x;  // line: tile_read
    if (second_barrier) __syncthreads();
  }
  out[threadIdx.x] = sum;
}

/// A shuffle makes lanes wait for each other, but orders no memory.
template <bool barrier>
__global__ void shuffle_is_no_barrier(float* out) {
  __shared__ float slot[32];
  slot[threadIdx.x] = 1;  // line: shuffle_write
  const float other = __shfl_xor_sync(all, 2.0f, 1);
  if (barrier) __syncwarp();
  out[threadIdx.x] = other + slot[31 - threadIdx.x];  // line: shuffle_read
}

/// Another thread's copy takes a barrier besides the wait.
template <bool barrier>
__global__ void others_copy(const float* in, float* out) {
  __shared__ __align__(16) float tile[32 * 4];
  __pipeline_memcpy_async(tile + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);  // line: copy_issue
  __pipeline_commit();
  __pipeline_wait_prior(0);
  if (barrier) __syncthreads();
  out[threadIdx.x] = tile[4 * (31 - threadIdx.x)];  // line: copy_read
}

/// ldmatrix reads what other lanes stored.
template <bool barrier>
__global__ void load_rows(float* out) {
  __shared__ __align__(16) __half tile[32 * 8];
  for (unsigned i = 0; i < 8; ++i) tile[threadIdx.x * 8 + i] = __half(1.0f);  // line: rows_write
  if (barrier) __syncwarp();
  std::uint32_t registers[4];
  ldmatrix_x4(registers, tile + (threadIdx.x ^ 1) * 8);  // line: rows_read
  out[threadIdx.x] = static_cast<float>(registers[0]);
}

/// Every thread adds to one number.
template <bool atomic>
__global__ void count(int* total) {
  if (atomic) {
    atomicAdd(total, 1);
  } else {
    *total = *total + 1;  // line: count
  }
}

// Out of bounds.
// -----------------------------------------------------------------------------------------------

__global__ void beyond_global(float a, const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) y[i] = a * x[i];  // line: beyond_global
}

__global__ void beyond_shared(float* out, unsigned by) {
  __shared__ float tile[64];
  tile[threadIdx.x + by] = 1;  // line: beyond_shared
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x];
}

__global__ void beyond_dynamic_shared(float* out, unsigned by) {
  DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x + by];  // line: beyond_dynamic_shared
}

template <bool wait>
__global__ void no_wait(const float* in, float* out) {
  __shared__ __align__(16) float tile[32 * 4];
  __pipeline_memcpy_async(tile + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);
  __pipeline_commit();
  if (wait) __pipeline_wait_prior(0);
  out[threadIdx.x] = tile[4 * threadIdx.x];  // line: no_wait
}

/// Shared memory of a tile, a barrier, tensor cores, exceptions: all that the machine does, without a bug.
__global__ void multiply(const __half* a, float* c) {
  using namespace nvcuda;
  __shared__ __align__(32) __half tile[256];
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> right;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
  for (int i = 0; i < 3; ++i) {
    for (unsigned e = threadIdx.x; e < 256; e += blockDim.x) tile[e] = a[255 - e];
    __syncthreads();
    wmma::load_matrix_sync(left, a, 16);
    wmma::load_matrix_sync(right, tile, 16);
    wmma::mma_sync(sums, left, right, sums);
    __syncthreads();
  }
  wmma::store_matrix_sync(c + threadIdx.x / 32 * 256 + blockIdx.x * 512, sums, 16, wmma::mem_row_major);
}

__global__ void divergent(unsigned who) {
  if (threadIdx.x != who) __syncthreads();
}

template <class T>
T* array(std::size_t size) {
  T* const x = static_cast<T*>(device_memory().allocate(size * sizeof(T)));
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<T>(static_cast<float>(i % 5));
  return x;
}

int run(const std::string& name) {
  float* const x = array<float>(128);
  float* const y = array<float>(2048);
  int* const total = array<int>(1);
  __half* const h = array<__half>(256);
  const std::map<std::string, std::function<void()>> bugs{
      {"race", [&] { launch<turn_around<false>>(1, 64, 0, nullptr, x, y); }},
      {"second_barrier", [&] { launch<sum_tiles<false>>(1, 32, 0, nullptr, x, y); }},
      {"shuffle", [&] { launch<shuffle_is_no_barrier<false>>(1, 32, 0, nullptr, y); }},
      {"others_copy", [&] { launch<others_copy<false>>(1, 32, 0, nullptr, x, y); }},
      {"ldmatrix", [&] { launch<load_rows<false>>(1, 32, 0, nullptr, y); }},
      {"count", [&] { launch<count<false>>(1, 2, 0, nullptr, total); }},
      {"beyond_global", [&] { launch<beyond_global>(5, 32, 0, nullptr, 2.0f, x, y, 129); }},
      {"beyond_shared", [&] { launch<beyond_shared>(1, 64, 0, nullptr, y, 1u); }},
      {"beyond_dynamic_shared", [&] { launch<beyond_dynamic_shared>(1, 33, 132, nullptr, y, 1u); }},
      {"no_wait", [&] { launch<no_wait<false>>(1, 32, 0, nullptr, x, y); }},
      {"clean", [&] {
         launch<turn_around<true>>(3, 64, 0, nullptr, x, y);
         launch<sum_tiles<true>>(1, 32, 0, nullptr, x, y);
         launch<shuffle_is_no_barrier<true>>(1, 32, 0, nullptr, y);
         launch<others_copy<true>>(1, 32, 0, nullptr, x, y);
         launch<load_rows<true>>(1, 32, 0, nullptr, y);
         launch<count<true>>(4, 64, 0, nullptr, total);
         launch<beyond_global>(5, 32, 0, nullptr, 2.0f, x, y, 128);
         launch<beyond_shared>(2, 64, 0, nullptr, y, 0u);
         launch<beyond_dynamic_shared>(2, 33, 132, nullptr, y, 0u);
         launch<no_wait<true>>(1, 32, 0, nullptr, x, y);
         for (int i = 0; i < 20; ++i) launch<multiply>(4, 64, 0, nullptr, h, y);
         for (unsigned who = 0; who < 64; ++who) {
           try {
             launch<divergent>(1, 64, 0, nullptr, who);
             std::puts("a divergent barrier was not noticed");
           } catch (const Error&) {
           }
         }
       }}};
  const auto found = bugs.find(name);
  if (found == bugs.end()) return 2;
  try {
    found->second();
  } catch (const Error& error) {
    std::puts(error.what());
  }
  for (void* memory :
       {static_cast<void*>(x), static_cast<void*>(y), static_cast<void*>(total), static_cast<void*>(h)})
    device_memory().release(memory, 0);
  std::puts("came to its end");
  return 0;
}

}  // namespace
}  // namespace tinymp::kernels::emu

int main(int argc, char** argv) { return tinymp::kernels::emu::run(argc > 1 ? argv[1] : ""); }
