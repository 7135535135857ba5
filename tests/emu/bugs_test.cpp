#include <tests/emu/rig.h>
#include <cmath>

// Kernels with one bug each, and what is said of it. Lines are counted from `here` so that a message can be
// held to the exact place.
namespace tinymp::test {
namespace {

constexpr unsigned all = 0xffff'ffffu;

/// "bugs_test.cpp:LINE"
std::string at(int line) { return "bugs_test.cpp:" + std::to_string(line); }

/// The message of a launch in the given order must have all the parts.
template <class F>
void check_says(const std::vector<std::string>& parts, const Options& order, F&& run) {
  const WithOrder with(order);
  const std::string said = message_of(run);
  for (const std::string& part : parts) {
    INFO("in order " << name_of(order) << " the message is: " << said << "\nit should say:  " << part);
    CHECK(said.find(part) != std::string::npos);
  }
}

const Options forward{.order = ThreadOrder::forward}, backward{.order = ThreadOrder::reverse};

// A missing barrier: the result depends on the order of threads.
// -----------------------------------------------------------------------------------------------

/// Each thread adds what its neighbours on both sides wrote. Without the barrier somebody reads too early.
template <bool barrier>
__global__ void neighbours(const float* in, float* out) {
  DYNAMIC_SHARED(float, tile);
  const unsigned i = threadIdx.x, n = blockDim.x;
  tile[i] = in[i];
  if (barrier) __syncthreads();
  out[i] = tile[(i + 1) % n] + tile[(i + n - 1) % n];
}

template <auto kernel>
std::vector<bool> right_by_order() {
  constexpr int n = 64;
  const Array<float> in(numbers<float>(n));
  std::vector<bool> right;
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    const Array<float> out(n);
    launch<kernel>(1, n, n * sizeof(float), nullptr, in.data(), out.data());
    bool same = true;
    for (int i = 0; i < n; ++i) {
      same = same && out.data()[i] == static_cast<float>((i + 1) % n + (i + n - 1) % n);
    }
    right.push_back(same);
  }
  return right;
}

TEST_CASE("a missing barrier: unwritten shared memory reads as NaN") {
  if (machine::under_tsan) SKIP_TEST("ThreadSanitizer names the race; tests/emu/sanitizers has this case");
  CHECK(right_by_order<neighbours<true>>() == std::vector<bool>(4, true));
  CHECK(right_by_order<neighbours<false>>() == std::vector<bool>(4, false));
}

/// Thread i takes from i - 1. Written upwards that is there already; in any other order it is not.
template <bool barrier>
__global__ void shift(const int* in, int* out) {
  __shared__ int tile[64];
  tile[threadIdx.x] = in[threadIdx.x];
  if (barrier) __syncthreads();
  out[threadIdx.x] = threadIdx.x == 0 ? 0 : tile[threadIdx.x - 1];
  if (barrier) __syncthreads();
  tile[threadIdx.x] = -1;  // static shared memory keeps its values from launch to launch
}

TEST_CASE("a missing barrier that is right in one order is wrong in another") {
  if (machine::under_tsan) SKIP_TEST("ThreadSanitizer names the race; tests/emu/sanitizers has this case");
  const Array<int> in(numbers<int>(64));
  std::vector<bool> right[2];
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    const Array<int> good(64), bad(64);
    launch<shift<true>>(1, 64, 0, nullptr, in.data(), good.data());
    launch<shift<false>>(1, 64, 0, nullptr, in.data(), bad.data());
    std::vector<int> expected = numbers<int>(64);
    for (int& x : expected) x = std::max(0, x - 1);
    right[0].push_back(good.values() == expected);
    right[1].push_back(bad.values() == expected);
  }
  CHECK(right[0] == std::vector<bool>{true, true, true, true});
  CHECK(right[1][1] == false);
  CHECK(right[1][2] == false);
  CHECK(right[1][3] == false);
}

/// A warp reads what its lanes stored as a tile, and forgets that only __syncwarp() orders memory.
template <bool barrier>
__global__ void read_stored_tile(float* out) {
  __shared__ __align__(32) float tile[256];
  for (unsigned i = threadIdx.x; i < 256; i += 32) tile[i] = -1;
  __syncwarp();
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
  nvcuda::wmma::fill_fragment(sums, 3.0f);
  nvcuda::wmma::store_matrix_sync(tile, sums, 16, nvcuda::wmma::mem_row_major);
  if (barrier) __syncwarp();
  for (unsigned i = threadIdx.x; i < 256; i += 32) out[i] = tile[i];
}

TEST_CASE("a missing __syncwarp after store_matrix_sync") {
  if (machine::under_tsan) SKIP_TEST("ThreadSanitizer names the race; tests/emu/sanitizers has this case");
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    const Array<float> out(256);
    launch<read_stored_tile<true>>(1, 32, 0, nullptr, out.data());
    CHECK(out.values() == std::vector<float>(256, 3.0f));
    launch<read_stored_tile<false>>(1, 32, 0, nullptr, out.data());
    CHECK(out.values() != std::vector<float>(256, 3.0f));
  }
}

// Barriers that not all threads come to.
// -----------------------------------------------------------------------------------------------

constexpr int divergent_at = __LINE__;
__global__ void divergent() {
  if (threadIdx.x < 16) {
    __syncthreads();
  } else {
    __syncthreads();
  }
}

TEST_CASE("a divergent barrier") {
  const std::string low = "__syncthreads() at ", first = at(divergent_at + 3), second = at(divergent_at + 5);
  check_says(
      {"kernel divergent, block (0,0,0), thread (16,0,0): " + low, second + ", but thread (0,0,0) waits in",
       first + "; all threads of a block must meet in the same barrier"},
      forward, [] { launch<divergent>(1, 32, 0, nullptr); });
  check_says({"thread (15,0,0): " + low, first + ", but thread (31,0,0) waits in", second + "; all threads"},
             backward, [] { launch<divergent>(1, 32, 0, nullptr); });
}

constexpr int early_return_at = __LINE__;
__global__ void early_return(float* y, int n) {
  if (static_cast<int>(threadIdx.x) >= n) return;
  y[threadIdx.x] = 1;
  __syncthreads();
}

TEST_CASE("a thread that returns before a barrier") {
  const Array<float> y(40);
  const auto run = [&] { launch<early_return>(dim3(1), dim3(10, 4), 0, nullptr, y.data(), 8); };
  check_says(
      {"kernel early_return, block (0,0,0), thread (8,0,0): returned, but thread (0,0,0) waits for it in "
       "__syncthreads() at ",
       at(early_return_at + 4), "put the work into an `if` instead of returning early"},
      forward, run);
  check_says({"kernel early_return, block (0,0,0), thread (7,3,0): __syncthreads() at ",
              at(early_return_at + 4), ", but thread (8,3,0) has returned"},
             backward, run);
}

__global__ void one_turn_less(int* turns) {
  for (int i = 0; i < 3 - static_cast<int>(threadIdx.x / 48); ++i) {
    atomicAdd(turns, 1);
    __syncthreads();
  }
}

TEST_CASE("a loop that some threads leave a turn early") {
  const Array<int> turns{0};
  for (const Options& order : all_orders()) {
    check_says({"kernel one_turn_less, block (0,0,0), thread ", " returned"}, order,
               [&] { launch<one_turn_less>(1, 64, 0, nullptr, turns.data()); });
  }
}

// Warp functions.
// -----------------------------------------------------------------------------------------------

constexpr int different_calls_at = __LINE__;
__global__ void different_calls(int* out) {
  int x = static_cast<int>(threadIdx.x);
  if (threadIdx.x % 2 == 0) {
    x = __shfl_xor_sync(all, x, 1);
  } else {
    x = static_cast<int>(__ballot_sync(all, x));
  }
  out[threadIdx.x] = x;
}

TEST_CASE("lanes of a warp in different warp functions") {
  const Array<int> out(32);
  check_says({"kernel different_calls, block (0,0,0), thread (1,0,0): __ballot_sync() at ",
              at(different_calls_at + 6), ", but thread (0,0,0) waits in __shfl_xor_sync() at ",
              at(different_calls_at + 4), "; all lanes named in a mask must make the same call"},
             forward, [&] { launch<different_calls>(1, 32, 0, nullptr, out.data()); });
}

constexpr int different_masks_at = __LINE__;
__global__ void different_masks(int* out) {
  const unsigned mask = threadIdx.x < 16 ? all : 0xffff'0000u;
  out[threadIdx.x] = __shfl_xor_sync(mask, 1, 1);
  __syncthreads();
}

TEST_CASE("lanes of a warp with different masks") {
  const Array<int> out(64);
  check_says({"kernel different_masks, block (0,0,0): no thread can go on: ",
              " and 15 more wait in __syncthreads() at ", at(different_masks_at + 4),
              "thread (0,0,0) and 15 more wait in __shfl_xor_sync() with mask 0xffffffff at ",
              at(different_masks_at + 3), "make the same call with the same mask"},
             forward, [&] { launch<different_masks>(1, 32, 0, nullptr, out.data()); });
}

__global__ void wrong_mask(int* out) { out[threadIdx.x] = __shfl_sync(0x0000'ffffu, 1, 0); }

TEST_CASE("a mask that does not name the caller") {
  const Array<int> out(32);
  check_says({"kernel wrong_mask, block (0,0,0), thread (31,0,0): __shfl_sync() at ",
              ": the mask 0xffff does not name the calling lane 31"},
             backward, [&] { launch<wrong_mask>(1, 32, 0, nullptr, out.data()); });
}

__global__ void returned_lane(int* out, unsigned who) {
  if (threadIdx.x == who) return;
  out[threadIdx.x] = __all_sync(all, 1);
}

TEST_CASE("a lane that returned and is counted on") {
  const Array<int> out(32);
  check_says({"thread (5,0,0): returned, but thread (0,0,0) waits for it in __all_sync() at "}, forward,
             [&] { launch<returned_lane>(1, 32, 0, nullptr, out.data(), 5u); });
  check_says({"thread (30,0,0): __all_sync() at ", "but thread (31,0,0), which the mask names, has returned"},
             backward, [&] { launch<returned_lane>(1, 32, 0, nullptr, out.data(), 31u); });
}

__global__ void absent_source(int* out) {
  if (threadIdx.x < 8) out[threadIdx.x] = __shfl_down_sync(0xffu, 1, 4);
}

TEST_CASE("a shuffle from a lane that takes no part") {
  const Array<int> out(32);
  check_says({"__shfl_down_sync() at ", "lane 4 reads from lane 8, which takes no part"}, forward,
             [&] { launch<absent_source>(1, 32, 0, nullptr, out.data()); });
}

__global__ void half_a_warp(float* out) {
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sums;
  nvcuda::wmma::fill_fragment(sums, 0.0f);
  nvcuda::wmma::store_matrix_sync(out, sums, 16, nvcuda::wmma::mem_row_major);
}

TEST_CASE("a tile takes a whole warp, an aligned address and stride") {
  const Array<float> out(512);
  check_says(
      {"kernel half_a_warp", "store_matrix_sync() at ", "takes all 32 lanes of a warp, and this one has 16"},
      forward, [&] { launch<half_a_warp>(1, 16, 0, nullptr, out.data()); });
  check_says({"store_matrix_sync() at ", "the address of a tile must be a multiple of 32 bytes"}, forward,
             [&] { launch<half_a_warp>(1, 32, 0, nullptr, out.data() + 4); });
}

// Asynchronous copies that nobody waits for.
// -----------------------------------------------------------------------------------------------

constexpr int copies_at = __LINE__;
template <bool wait_for_all>
__global__ void copies(const float* in, float* out) {
  __shared__ __align__(16) float tile[2][32];
  for (int stage = 0; stage < 2; ++stage) {
    __pipeline_memcpy_async(&tile[stage][threadIdx.x], in + 32 * stage + threadIdx.x, 4);
    __pipeline_commit();
  }
  __pipeline_wait_prior(wait_for_all ? 0 : 1);
  out[threadIdx.x] = tile[0][threadIdx.x];
  out[threadIdx.x + 32] = tile[1][threadIdx.x];
}

TEST_CASE("a copy that is not waited for reads as NaN and is named when its thread returns") {
  const Array<float> in(numbers<float>(64)), out(64);
  launch<copies<true>>(1, 32, 0, nullptr, in.data(), out.data());
  CHECK(out.values() == in.values());
  check_says(
      {"kernel copies", ", block (0,0,0), thread (0,0,0): returned, but its asynchronous copy issued at ",
       at(copies_at + 5), " was never waited for"},
      forward, [&] { launch<copies<false>>(1, 32, 0, nullptr, in.data(), out.data()); });
  CHECK(out.data()[0] == 0);
  CHECK(std::isnan(out.data()[32]));
}

// Writes outside of an array, where no sanitizer stops them: the guards around it.
// -----------------------------------------------------------------------------------------------

__global__ void beyond_shared() {
  DYNAMIC_SHARED(float, tile);
  tile[threadIdx.x + 1] = 1;
}
__global__ void beyond_global(float* x, int by) { x[static_cast<int>(threadIdx.x) + by] = 1; }

TEST_CASE("writes outside of an array") {
  if (machine::under_asan)
    SKIP_TEST("AddressSanitizer would end the program; tests/emu/sanitizers has this case");
  check_says({"kernel beyond_shared, block (0,0,0): wrote outside of its 128 bytes of dynamic shared memory"},
             forward, [] { launch<beyond_shared>(1, 32, 128, nullptr); });
  const Array<float> x(32);
  launch<beyond_global>(1, 32, 0, nullptr, x.data(), 0);
  check_says({"kernel beyond_global wrote behind an array of 128 bytes in global memory"}, forward,
             [&] { launch<beyond_global>(1, 32, 0, nullptr, x.data(), 1); });
  check_says({"kernel beyond_global wrote before an array of 128 bytes in global memory"}, forward,
             [&] { launch<beyond_global>(1, 32, 0, nullptr, x.data(), -1); });
  launch<beyond_global>(1, 32, 0, nullptr, x.data(), 0);  // said once
}

}  // namespace
}  // namespace tinymp::test
