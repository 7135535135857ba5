#include <tests/emu/rig.h>
#include <cmath>

namespace tinymp::test {
namespace {

/// Two stages: one is on its way while the other is added up.
__global__ void sum_stages(const float* in, float* out, int stages) {
  __shared__ __align__(16) float tile[2][32][4];
  const unsigned i = threadIdx.x;
  const auto fetch = [&](int stage) {
    if (stage < stages)
      __pipeline_memcpy_async(tile[stage % 2][i], in + (stage * 32 + static_cast<int>(i)) * 4, 16);
    __pipeline_commit();
  };
  fetch(0);
  float sum = 0;
  for (int stage = 0; stage < stages; ++stage) {
    fetch(stage + 1);
    __pipeline_wait_prior(1);
    __syncthreads();
    for (const float x : tile[stage % 2][31 - i]) sum += x;  // what another thread fetched
    __syncthreads();
  }
  out[i] = sum;
}

TEST_CASE("asynchronous copies arrive when they are waited for") {
  const Array<float> in(numbers<float>(7 * 32 * 4)), out(32);
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    launch<sum_stages>(1, 32, 0, nullptr, in.data(), out.data(), 7);
    for (int i = 0; i < 32; ++i) {
      float sum = 0;
      for (int stage = 0; stage < 7; ++stage) {
        for (int k = 0; k < 4; ++k) sum += static_cast<float>((stage * 32 + 31 - i) * 4 + k);
      }
      REQUIRE(out.data()[i] == sum);
    }
  }
}

__global__ void copy_some(const unsigned char* in, unsigned char* out, int bytes, int zero) {
  __shared__ __align__(16) unsigned char tile[16];
  __pipeline_memcpy_async(tile, in, static_cast<std::size_t>(bytes), static_cast<std::size_t>(zero));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  for (int i = 0; i < bytes; ++i) out[i] = tile[i];
}

TEST_CASE("4, 8 or 16 bytes, the last of them zero where asked") {
  const Array<unsigned char> in(numbers<unsigned char>(17));
  for (const int bytes : {4, 8, 16}) {
    for (int zero = 0; zero <= bytes; ++zero) {
      const Array<unsigned char> out(16);
      launch<copy_some>(1, 1, 0, nullptr, in.data(), out.data(), bytes, zero);
      for (int i = 0; i < bytes; ++i) REQUIRE(out.data()[i] == (i < bytes - zero ? i : 0));
    }
  }
  const Array<unsigned char> out(16);
  CHECK_SAYS("an asynchronous copy of 12 bytes",
             launch<copy_some>(1, 1, 0, nullptr, in.data(), out.data(), 12, 0));
  CHECK_SAYS("async_copy_test.cpp:", launch<copy_some>(1, 1, 0, nullptr, in.data(), out.data(), 8, 9));
  CHECK_SAYS("both addresses multiples of that",
             launch<copy_some>(1, 1, 0, nullptr, in.data() + 1, out.data(), 4, 0));
}

}  // namespace
}  // namespace tinymp::test
