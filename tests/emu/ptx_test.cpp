#include <kernels/cuda/ptx.h>
#include <tests/emu/rig.h>
#include <tinymp/base/rng.h>
#include <array>
#include <cmath>

// ldmatrix and mma.sync against the tables of the PTX ISA, written out here a second time: by element, not by
// register.
namespace tinymp::test {
namespace {

// ldmatrix
// -----------------------------------------------------------------------------------------------

/// Rows of 8 elements lie 24 elements apart; element = row * 100 + column.
__global__ void load_four(const std::uint16_t* in, std::uint32_t* out, bool transpose) {
  __shared__ __align__(16) std::uint16_t tile[32 * 24];
  for (unsigned i = threadIdx.x; i < 32 * 24; i += 32) tile[i] = in[i];
  __syncwarp();
  std::uint32_t registers[4];
  if (transpose) {
    ldmatrix_x4_trans(registers, tile + threadIdx.x * 24);
  } else {
    ldmatrix_x4(registers, tile + threadIdx.x * 24);
  }
  for (unsigned i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = registers[i];
}

TEST_CASE("ldmatrix: register i of lane l holds row l/4, columns 2(l%4) and 2(l%4) + 1 of matrix i") {
  std::vector<std::uint16_t> rows(32 * 24);
  for (int row = 0; row < 32; ++row) {
    for (int col = 0; col < 24; ++col) {
      rows[static_cast<std::size_t>(row * 24 + col)] = static_cast<std::uint16_t>(row * 100 + col);
    }
  }
  const Array<std::uint16_t> in(rows);
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    for (const bool transpose : {false, true}) {
      const Array<std::uint32_t> out(128);
      launch<load_four>(1, 32, 0, nullptr, in.data(), out.data(), transpose);
      for (int matrix = 0; matrix < 4; ++matrix) {
        for (int row = 0; row < 8; ++row) {
          for (int col = 0; col < 8; ++col) {
            // Who holds element (row, col)? Of the transpose: who holds (col, row)?
            const int r = transpose ? col : row, c = transpose ? row : col;
            const std::uint32_t held = out.data()[(r * 4 + c / 2) * 4 + matrix];
            REQUIRE((held >> (c % 2 * 16) & 0xffff) ==
                    static_cast<std::uint32_t>((matrix * 8 + row) * 100 + col));
          }
        }
      }
    }
  }
}

__global__ void load_unaligned(const std::uint16_t* in) {
  std::uint32_t registers[4];
  ldmatrix_x4(registers, in + 1);
}

TEST_CASE("ldmatrix: rows start at multiples of 16 bytes") {
  const Array<std::uint16_t> in(64);
  CHECK_SAYS("ldmatrix_x4() at ", launch<load_unaligned>(1, 32, 0, nullptr, in.data()));
  CHECK_SAYS("the address of a row must be a multiple of 16 bytes",
             launch<load_unaligned>(1, 32, 0, nullptr, in.data()));
}

// mma.sync.m16n8k16
// -----------------------------------------------------------------------------------------------

template <class T>
__global__ void multiply(const std::uint32_t* a, const std::uint32_t* b, float* d) {
  std::uint32_t left[4], right[2];
  float sums[4];
  for (unsigned i = 0; i < 4; ++i) left[i] = a[threadIdx.x * 4 + i];
  for (unsigned i = 0; i < 2; ++i) right[i] = b[threadIdx.x * 2 + i];
  for (unsigned i = 0; i < 4; ++i) sums[i] = d[threadIdx.x * 4 + i];
  mma_m16n8k16<T>(sums, left, right);
  for (unsigned i = 0; i < 4; ++i) d[threadIdx.x * 4 + i] = sums[i];
}

__global__ void multiply_half(const std::uint32_t* a, const std::uint32_t* b, std::uint32_t* d) {
  std::uint32_t left[4], right[2], sums[2];
  for (unsigned i = 0; i < 4; ++i) left[i] = a[threadIdx.x * 4 + i];
  for (unsigned i = 0; i < 2; ++i) right[i] = b[threadIdx.x * 2 + i];
  for (unsigned i = 0; i < 2; ++i) sums[i] = d[threadIdx.x * 2 + i];
  mma_m16n8k16<__half>(sums, left, right);
  for (unsigned i = 0; i < 2; ++i) d[threadIdx.x * 2 + i] = sums[i];
}

/// Where element i of a fragment lies, by the formulas of the PTX ISA: groupID = lane / 4, inGroup = lane
/// % 4.
struct Place {
  int row, col;
};
Place place_in_a(int lane, int i) {
  const bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
  return {upper ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1) + (i >= 4 ? 8 : 0)};
}
Place place_in_b(int lane, int i) { return {lane % 4 * 2 + (i & 1) + (i >= 2 ? 8 : 0), lane / 4}; }
Place place_in_c(int lane, int i) { return {i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)}; }

/// Integers that differ along rows and columns, small enough for exact sums.
float a_at(int row, int col) { return static_cast<float>((row * 5 + col * 3) % 11 - 5); }
float b_at(int row, int col) { return static_cast<float>((row * 7 + col * 2) % 13 - 6); }
float c_at(int row, int col) { return static_cast<float>((row * 3 + col) % 17 - 8); }

template <class T>
std::uint32_t pair(float low, float high) {
  const std::uint32_t upper = std::bit_cast<std::uint16_t>(T(high));
  return upper << 16 | std::bit_cast<std::uint16_t>(T(low));
}

template <class T, int registers>
std::vector<std::uint32_t> fragment(Place (*place)(int, int), float (*value)(int, int)) {
  std::vector<std::uint32_t> all;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 2 * registers; i += 2) {
      const Place low = place(lane, i), high = place(lane, i + 1);
      all.push_back(pair<T>(value(low.row, low.col), value(high.row, high.col)));
    }
  }
  return all;
}

float expected(Place at) {
  float sum = c_at(at.row, at.col);
  for (int k = 0; k < 16; ++k) sum += a_at(at.row, k) * b_at(k, at.col);
  return sum;
}

template <class T>
void check_multiply() {
  const Array<std::uint32_t> a(fragment<T, 4>(place_in_a, a_at)), b(fragment<T, 2>(place_in_b, b_at));
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    const Array<float> d(128);
    for (int i = 0; i < 128; ++i)
      d.data()[i] = c_at(place_in_c(i / 4, i % 4).row, place_in_c(i / 4, i % 4).col);
    launch<multiply<T>>(1, 32, 0, nullptr, a.data(), b.data(), d.data());
    for (int i = 0; i < 128; ++i) REQUIRE(d.data()[i] == expected(place_in_c(i / 4, i % 4)));
  }
}

TEST_CASE("mma.sync.m16n8k16: FP16 with sums in FP32") { check_multiply<__half>(); }
TEST_CASE("mma.sync.m16n8k16: BF16 with sums in FP32") { check_multiply<__nv_bfloat16>(); }

TEST_CASE("mma.sync.m16n8k16: FP16 with sums in FP16") {
  const Array<std::uint32_t> a(fragment<__half, 4>(place_in_a, a_at)),
      b(fragment<__half, 2>(place_in_b, b_at));
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    const Array<std::uint32_t> d(fragment<__half, 2>(place_in_c, c_at));
    launch<multiply_half>(1, 32, 0, nullptr, a.data(), b.data(), d.data());
    for (int i = 0; i < 128; ++i) {
      const std::uint32_t held = d.data()[i / 4 * 2 + i % 4 / 2] >> (i % 2 * 16) & 0xffff;
      const float value = static_cast<float>(__half::from_bits(static_cast<std::uint16_t>(held)));
      REQUIRE(value == expected(place_in_c(i / 4, i % 4)));
    }
  }
}

// cp.async
// -----------------------------------------------------------------------------------------------

__global__ void copy(const std::uint32_t* in, std::uint32_t* out, int bytes) {
  __shared__ __align__(16) std::uint32_t tile[32 * 4];
  cp_async_16(tile + threadIdx.x * 4, in + threadIdx.x * 4, bytes);
  cp_async_commit();
  cp_async_wait<0>();
  __syncthreads();
  for (unsigned i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = tile[(31 - threadIdx.x) * 4 + i];
}

TEST_CASE("cp.async: 16 bytes, the last of them 0 where fewer are given") {
  const Array<std::uint32_t> in(numbers<std::uint32_t>(128)), out(128);
  for (const int words : {0, 1, 3, 4}) {
    launch<copy>(1, 32, 0, nullptr, in.data(), out.data(), 4 * words);
    for (unsigned i = 0; i < 128; ++i) {
      REQUIRE(out.data()[i] == (i % 4 < static_cast<unsigned>(words) ? (31 - i / 4) * 4 + i % 4 : 0));
    }
  }
}

}  // namespace
}  // namespace tinymp::test
