#include <tests/emu/rig.h>
#include <tinymp/base/parallel_for.h>

namespace tinymp::test {
namespace {

struct Totals {
  int sum = 0, difference = 0, most = 0, least = 0, some_bits = 0, all_bits = 0xff;
  unsigned long long wide = 0;
  float single = 0;
  double twice = 0;
  unsigned tickets = 0, locked = 0;
};

__global__ void gather(Totals* t, int* seen) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicAdd(&t->sum, i);
  atomicSub(&t->difference, 2);
  atomicMax(&t->most, i ^ 5);
  atomicMin(&t->least, -i);
  atomicOr(&t->some_bits, 1 << (i % 20));
  atomicAnd(&t->all_bits, ~(1 << (i % 7)));
  atomicAdd(&t->wide, 1ull << 33);
  atomicAdd(&t->single, 0.5f);
  atomicAdd(&t->twice, 0.25);
  const unsigned mine = atomicAdd(&t->tickets, 1);  // the old value: a number of one's own
  atomicExch(&seen[mine], i);
  unsigned old = 0, expected;  // the loop that CUDA's manual builds every other atomic from
  do {
    expected = old;
    old = atomicCAS(&t->locked, expected, expected + 3);
  } while (old != expected);
}

TEST_CASE("atomics lose nothing, on several OS threads") {
  constexpr int blocks = 20, threads = 64, n = blocks * threads;
  const int usual = tinymp::threads();
  set_threads(4);
  const Array<Totals> totals{Totals()};
  const Array<int> seen(n);
  launch<gather>(blocks, threads, 0, nullptr, totals.data(), seen.data());
  set_threads(usual);
  const Totals& t = *totals.data();
  CHECK(t.sum == n * (n - 1) / 2);
  CHECK(t.difference == -2 * n);
  CHECK(t.most == n - 1);
  CHECK(t.least == 1 - n);
  CHECK(t.some_bits == (1 << 20) - 1);
  CHECK(t.all_bits == 0x80);
  CHECK(t.wide == (1ull << 33) * n);
  CHECK(t.single == 0.5f * n);
  CHECK(t.twice == 0.25 * n);
  CHECK(t.tickets == n);
  CHECK(t.locked == 3 * n);
  std::vector<int> tickets = seen.values();
  std::sort(tickets.begin(), tickets.end());
  CHECK(tickets == numbers<int>(n));
}

}  // namespace
}  // namespace tinymp::test
