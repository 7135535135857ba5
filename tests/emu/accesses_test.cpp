#include <kernels/emu/accesses.h>
#include <tests/emu/rig.h>
#include <tinymp/base/parallel_for.h>

// Sectors and bank conflicts against the numbers that follow from their definition. (Those of the rungs: learn/bench_test.sh.)
namespace tinymp::test {
namespace {

using machine::AccessCounts;

constexpr std::size_t room = 8192;

/// Each thread touches `width` bytes, its own multiple of `stride` bytes on, in each of `times` turns. A barrier before each
/// turn changes who comes first.
__global__ void touch(const char* global, int stride, int width, int times, bool shared) {
  DYNAMIC_SHARED(char, memory);
  static const char site = 0;
  for (int i = 0; i < times; ++i) {
    __syncthreads();
    const std::size_t at = static_cast<std::size_t>(stride) * (threadIdx.x % 32);
    machine::note_access((shared ? memory : global) + at, static_cast<std::size_t>(width), &site);
  }
}

AccessCounts counted(int stride, int width, bool shared, unsigned threads = 32, int times = 1,
                     unsigned blocks = 1) {
  const int usual = tinymp::threads();
  set_threads(1);
  const Array<char> global(room);
  const auto begin = reinterpret_cast<std::uintptr_t>(global.data());
  machine::count_accesses({{begin, begin + room}}, {});
  launch<touch>(blocks, threads, room, nullptr, global.data(), stride, width, times, shared);
  const AccessCounts counts = machine::counted_accesses();
  set_threads(usual);
  return counts;
}

std::uint64_t sectors(int stride, int width) {
  const AccessCounts counts = counted(stride, width, false);
  CHECK(counts.requests == 1);
  CHECK(counts.bytes == 32u * static_cast<unsigned>(width));
  CHECK(counts.shared == 0);
  return counts.sectors;
}

/// Conflicts, and that so many turns are needed without any.
std::uint64_t conflicts(int stride, int width, std::uint64_t turns) {
  const AccessCounts counts = counted(stride, width, true);
  CHECK(counts.requests == 0);
  CHECK(counts.shared == turns);
  return counts.conflicts;
}

TEST_CASE("accesses: sectors of 32 bytes that the lanes of a warp touch") {
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    CHECK(sectors(0, 4) == 1);
    CHECK(sectors(2, 2) == 2);
    CHECK(sectors(4, 4) == 4);
    CHECK(sectors(16, 16) == 16);
    CHECK(sectors(8, 4) == 8);
    CHECK(sectors(128, 4) == 32);
    CHECK(sectors(48, 32) == 48);  // every second one lies across a border
  }
}

TEST_CASE("accesses: lanes that want different words of one bank wait for each other") {
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    CHECK(conflicts(0, 4, 1) == 0);  // one word for all
    CHECK(conflicts(4, 4, 1) == 0);
    CHECK(conflicts(2, 2, 1) == 0);
    CHECK(conflicts(8, 4, 1) == 1);
    CHECK(conflicts(128, 4, 1) == 31);
    CHECK(conflicts(132, 4, 1) == 0);  // a column more: the classic cure
    CHECK(conflicts(8, 8, 2) == 0);
    CHECK(conflicts(16, 16, 4) == 0);
    CHECK(conflicts(64, 16, 4) == 4 * 3);  // 8 lanes a turn, two of which fill the banks
    CHECK(conflicts(80, 16, 4) == 0);      // the padded lines of rungs 4 and 5
  }
}

TEST_CASE("accesses: each warp, each turn and each block counts by itself") {
  const AccessCounts counts = counted(4, 4, false, 96, 5, 3);
  CHECK(counts.requests == 3 * 5 * 3);
  CHECK(counts.sectors == 4 * 3 * 5 * 3);
}

TEST_CASE("accesses: what is neither global nor shared is not counted, and nothing before the beginning") {
  const Array<char> global(room);
  launch<touch>(1, 32, room, nullptr, global.data(), 4, 4, 1, false);
  const int usual = tinymp::threads();
  set_threads(1);
  machine::count_accesses({}, {});
  launch<touch>(1, 32, room, nullptr, global.data(), 4, 4, 1, false);
  CHECK(machine::counted_accesses().requests == 0);
  set_threads(usual);
}

}  // namespace
}  // namespace tinymp::test
