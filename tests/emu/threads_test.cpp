#include <tests/base/child.h>
#include <tests/emu/rig.h>
#include <tinymp/base/parallel_for.h>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <optional>

namespace tinymp::test {
namespace {

// Who am I.
// -----------------------------------------------------------------------------------------------

struct Seen {
  uint3 thread, block;
  dim3 threads, blocks;
};

__global__ void tell(Seen* out) {
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  out[block * (blockDim.x * blockDim.y * blockDim.z) + thread] = {threadIdx, blockIdx, blockDim, gridDim};
}

TEST_CASE("every thread of every block runs once and knows who it is") {
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    const Array<Seen> seen(3 * 2 * 2 * 5 * 4 * 3);
    launch<tell>(dim3(3, 2, 2), dim3(5, 4, 3), 0, nullptr, seen.data());
    std::size_t i = 0;
    for (unsigned b = 0; b < 3 * 2 * 2; ++b) {
      for (unsigned t = 0; t < 5 * 4 * 3; ++t, ++i) {
        const Seen& s = seen.data()[i];
        REQUIRE((s.block.x == b % 3 && s.block.y == b / 3 % 2 && s.block.z == b / 6));
        REQUIRE((s.thread.x == t % 5 && s.thread.y == t / 5 % 4 && s.thread.z == t / 20));
        REQUIRE((s.threads.x == 5 && s.threads.y == 4 && s.threads.z == 3));
        REQUIRE((s.blocks.x == 3 && s.blocks.y == 2 && s.blocks.z == 2));
      }
    }
  }
}

// The barrier.
// -----------------------------------------------------------------------------------------------

/// Each round adds up what the neighbours on both sides had: wrong at once when anybody is early or late.
template <int threads>
__global__ void diffuse(const int* in, int* out, int rounds) {
  __shared__ int now[threads];
  __shared__ int next[threads];
  const int i = static_cast<int>(threadIdx.x);
  now[i] = in[blockIdx.x * threads + threadIdx.x];
  __syncthreads();
  for (int round = 0; round < rounds; ++round) {
    next[i] = now[(i + 1) % threads] + now[(i + threads - 1) % threads] % 1000;
    __syncthreads();
    now[i] = next[i];
    __syncthreads();
  }
  out[blockIdx.x * threads + threadIdx.x] = now[i];
}

TEST_CASE("__syncthreads separates rounds, in any order of threads and on several OS threads") {
  constexpr int threads = 96, blocks = 7, rounds = 5;
  std::vector<int> expected;
  for (int block = 0; block < blocks; ++block) {
    std::vector<int> now;
    for (int i = 0; i < threads; ++i) now.push_back(block * threads + i);
    for (int round = 0; round < rounds; ++round) {
      std::vector<int> next;
      for (int i = 0; i < threads; ++i) {
        next.push_back(now[static_cast<std::size_t>((i + 1) % threads)] +
                       now[static_cast<std::size_t>((i + threads - 1) % threads)] % 1000);
      }
      now = next;
    }
    expected.insert(expected.end(), now.begin(), now.end());
  }
  const Array<int> in(numbers<int>(threads * blocks));
  const int usual = tinymp::threads();
  for (const int workers : {1, 3}) {
    set_threads(workers);
    for (const Options& order : all_orders()) {
      const WithOrder with(order);
      const Array<int> out(in.size());
      launch<diffuse<threads>>(blocks, threads, 0, nullptr, in.data(), out.data(), rounds);
      INFO(name_of(order) << ", " << workers << " OS threads");
      CHECK(out.values() == expected);
    }
  }
  set_threads(usual);
}

__global__ void reverse_block(const float* in, float* out) {
  DYNAMIC_SHARED(float, tile);
  out[blockDim.x + threadIdx.x] = tile[threadIdx.x];  // as it starts
  __syncthreads();
  tile[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

TEST_CASE("dynamic shared memory has the size of the launch and starts as NaN, in every block") {
  const Array<float> in(numbers<float>(1024)), out(2048);
  for (int repeat = 0; repeat < 2; ++repeat) {
    launch<reverse_block>(2, 1024, 4096, nullptr, in.data(), out.data());
    for (std::size_t i = 0; i < 1024; ++i) {
      REQUIRE(out.data()[i] == static_cast<float>(1023 - i));
      REQUIRE(std::isnan(out.data()[1024 + i]));
    }
  }
}

TEST_CASE("memory of the emulated GPU starts as NaN") {
  const Array<float> x(1000);
  for (const float v : x.values()) REQUIRE(std::isnan(v));
  const Array<__half> y(1000);
  for (const __half v : y.values()) REQUIRE(isnan(v));
}

// What no GPU accepts.
// -----------------------------------------------------------------------------------------------

__global__ void nothing() {}
__global__ void launches_another() { launch<nothing>(1, 1, 0, nullptr); }

TEST_CASE("a launch of the wrong size is refused") {
  launch<nothing>(1, 1024, 227 * 1024, nullptr);
  CHECK_SAYS("kernel nothing: a grid of 0x1x1 blocks", launch<nothing>(0, 1, 0, nullptr));
  CHECK_SAYS("blocks of 1025x1x1 threads", launch<nothing>(1, 1025, 0, nullptr));
  CHECK_SAYS("blocks of 1x1x65 threads", launch<nothing>(1, dim3(1, 1, 65), 0, nullptr));
  CHECK_SAYS("1x65536x1 blocks", launch<nothing>(dim3(1, 65536), 1, 0, nullptr));
  CHECK_SAYS("with 232449 bytes", launch<nothing>(1, 1, 227 * 1024 + 1, nullptr));
  CHECK_SAYS("launch of kernel nothing from within a kernel", launch<launches_another>(1, 1, 0, nullptr));
  CHECK_SAYS("outside of a kernel", __syncthreads());
}

// Failure leaves nothing behind.
// -----------------------------------------------------------------------------------------------

std::atomic<int> living = 0;
struct Counted {
  Counted() { ++living; }
  ~Counted() { --living; }
};

__global__ void one_gives_up(int who) {
  const Counted counted;
  if (static_cast<int>(threadIdx.x) == who) throw Error("thread " + std::to_string(who) + " gives up");
  __syncthreads();
}

TEST_CASE("a thread that throws ends its block: the others are unwound, and the next launch is sound") {
  for (const Options& order : all_orders()) {
    const WithOrder with(order);
    for (const int who : {0, 31, 100}) {
      CHECK_SAYS("thread " + std::to_string(who) + " gives up",
                 launch<one_gives_up>(1, 128, 0, nullptr, who));
      CHECK(living == 0);
    }
    launch<one_gives_up>(1, 128, 0, nullptr, 128);
    CHECK(living == 0);
  }
}

// The environment.
// -----------------------------------------------------------------------------------------------

TEST_CASE("the order in use") {
  try {
    std::printf("order: %s\n", name_of(machine::options()).c_str());
  } catch (const UsageError& error) {
    std::printf("usage: %s\n", error.what());
  }
}

TEST_CASE("TINYMP_THREAD_ORDER sets the order") {
  const auto order = [](const std::string& setting, const std::string& label) {
    const std::optional<ChildResult> result = run_again(setting, "the order in use");
    return result ? result->line(label) : "(unknown)";
  };
  if (order("-u TINYMP_THREAD_ORDER", "order: ") == "(unknown)") {
    SKIP_TEST("this system does not say where the running program lies");
  }
  CHECK(order("-u TINYMP_THREAD_ORDER", "order: ") == "forward");
  CHECK(order("TINYMP_THREAD_ORDER=", "order: ") == "forward");
  CHECK(order("TINYMP_THREAD_ORDER=forward", "order: ") == "forward");
  CHECK(order("TINYMP_THREAD_ORDER=reverse", "order: ") == "reverse");
  CHECK(order("TINYMP_THREAD_ORDER=shuffled", "order: ") == "shuffled:1");
  CHECK(order("TINYMP_THREAD_ORDER=shuffled:42", "order: ") == "shuffled:42");
  for (const std::string wrong : {"backwards", "shuffled:", "shuffled:4x", "shuffled7"}) {
    CHECK(order("TINYMP_THREAD_ORDER=" + wrong, "usage: ") ==
          "TINYMP_THREAD_ORDER is '" + wrong +
              "': set it to forward, reverse, shuffled or shuffled:SEED, or unset it");
  }
}

}  // namespace
}  // namespace tinymp::test
