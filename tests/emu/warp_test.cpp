#include <tests/emu/rig.h>
#include <array>
#include <bit>

// Each function of a warp against the loop that it stands for.
namespace tinymp::test {
namespace {

constexpr unsigned all = 0xffff'ffffu;

struct Shuffled {
  int from, up, down, across, down8, up8, across8, from8;
  double wide;
};

__global__ void shuffle(const int* in, Shuffled* out, int amount) {
  const int i = static_cast<int>(threadIdx.x), x = in[i];
  Shuffled& mine = out[i];
  const auto delta = static_cast<unsigned>(amount);
  mine.from = __shfl_sync(all, x, amount + i);  // beyond 31 it wraps around
  mine.up = __shfl_up_sync(all, x, delta);
  mine.down = __shfl_down_sync(all, x, delta);
  mine.across = __shfl_xor_sync(all, x, amount);
  mine.from8 = __shfl_sync(all, x, amount, 8);
  mine.up8 = __shfl_up_sync(all, x, delta, 8);
  mine.down8 = __shfl_down_sync(all, x, delta, 8);
  mine.across8 = __shfl_xor_sync(all, x, amount % 8, 8);
  mine.wide = __shfl_sync(all, static_cast<double>(x) + 0.5, 31 - i % 32);
}

TEST_CASE("shuffles") {
  const Array<int> in(numbers<int>(64));
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    for (const int amount : {0, 1, 5, 16, 31}) {
      const Array<Shuffled> out(64);
      launch<shuffle>(1, 64, 0, nullptr, in.data(), out.data(), amount);
      for (int i = 0; i < 64; ++i) {
        INFO("thread " << i << ", amount " << amount << ", " << name_of(order));
        const int lane = i % 32, warp = i - lane, group = i - i % 8, eighth = i % 8;
        const Shuffled& s = out.data()[i];
        REQUIRE(s.from == warp + (amount + i) % 32);
        REQUIRE(s.up == (lane >= amount ? i - amount : i));
        REQUIRE(s.down == (lane + amount < 32 ? i + amount : i));
        REQUIRE(s.across == warp + (lane ^ amount));
        REQUIRE(s.from8 == group + amount % 8);
        REQUIRE(s.up8 == (eighth >= amount ? i - amount : i));
        REQUIRE(s.down8 == (eighth + amount < 8 ? i + amount : i));
        REQUIRE(s.across8 == group + (eighth ^ (amount % 8)));
        REQUIRE(s.wide == warp + 31 - lane + 0.5);
      }
    }
  }
}

__global__ void vote(const int* in, unsigned* ballots, int* any, int* every) {
  const int x = in[threadIdx.x];
  ballots[threadIdx.x] = __ballot_sync(all, x);
  any[threadIdx.x] = __any_sync(all, x);
  every[threadIdx.x] = __all_sync(all, x);
}

TEST_CASE("votes") {
  for (const unsigned pattern : {0u, 1u, 0x8000'0000u, 0x1234'5678u, 0xffff'fffeu, 0xffff'ffffu}) {
    std::vector<int> predicates;
    for (int lane = 0; lane < 32; ++lane) predicates.push_back((pattern >> lane & 1) != 0 ? -7 : 0);
    const Array<int> in(predicates), any(32), every(32);
    const Array<unsigned> ballots(32);
    launch<vote>(1, 32, 0, nullptr, in.data(), ballots.data(), any.data(), every.data());
    for (int lane = 0; lane < 32; ++lane) {
      REQUIRE(ballots.data()[lane] == pattern);
      REQUIRE((any.data()[lane] != 0) == (pattern != 0));
      REQUIRE((every.data()[lane] != 0) == (pattern == all));
    }
  }
}

/// Both halves of a warp do the same, each for itself and in turns of its own.
__global__ void sum_halves(const int* in, int* out) {
  int x = in[threadIdx.x];
  const unsigned mask = threadIdx.x < 16 ? 0x0000'ffffu : 0xffff'0000u;
  for (int step = 8; step > 0; step /= 2) x += __shfl_xor_sync(mask, x, step);
  __syncwarp();
  out[threadIdx.x] = x + __shfl_xor_sync(all, x, 16);
  __syncwarp(mask);
}

TEST_CASE("masks cut a warp into groups") {
  const Array<int> in(numbers<int>(32)), out(32);
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    launch<sum_halves>(1, 32, 0, nullptr, in.data(), out.data());
    CHECK(out.values() == std::vector<int>(32, 31 * 32 / 2));
  }
}

/// The last warp has 8 lanes: a full mask means those that there are.
__global__ void sum_lanes(int* out) {
  int x = 1;
  for (unsigned step = 16; step > 0; step /= 2) {
    const int other = __shfl_down_sync(all, x, step, 8);
    if (threadIdx.x % 8 + step < 8) x += other;
  }
  out[threadIdx.x] = x;
}

TEST_CASE("a warp of fewer than 32 lanes") {
  const Array<int> out(40);
  launch<sum_lanes>(1, 40, 0, nullptr, out.data());
  for (std::size_t i = 0; i < 40; i += 8) CHECK(out.data()[i] == 8);
}

__global__ void exchange_in_shared(const int* in, int* out) {
  __shared__ int slot[64];
  slot[threadIdx.x] = in[threadIdx.x];
  __syncwarp();
  out[threadIdx.x] = slot[threadIdx.x ^ 31];
}

TEST_CASE("__syncwarp orders memory within a warp") {
  const Array<int> in(numbers<int>(64)), out(64);
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    launch<exchange_in_shared>(1, 64, 0, nullptr, in.data(), out.data());
    for (int i = 0; i < 64; ++i) REQUIRE(out.data()[i] == (i ^ 31));
  }
}

TEST_CASE("bits of an integer") {
  for (int i = -3; i < 70; ++i) {
    int ones = 0, first = 0, zeros = 32;
    for (int bit = 31; bit >= 0; --bit) {
      if ((static_cast<unsigned>(i) >> bit & 1) == 0) continue;
      ++ones;
      first = bit + 1;
      zeros = std::min(zeros, 31 - bit);
    }
    CHECK(__popc(static_cast<unsigned>(i)) == ones);
    CHECK(__ffs(i) == first);
    CHECK(__clz(i) == zeros);
  }
}

}  // namespace
}  // namespace tinymp::test
