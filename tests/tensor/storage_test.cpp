#include <tinymp/tensor/storage.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/tensor/tensor.h>
#include <thread>

namespace tinymp::test {
namespace {

std::size_t in_use() { return pool_statistics().bytes_in_use; }

TEST_CASE("a block is at least as long as was asked, and at most a third longer") {
  for (std::size_t bytes = 1; bytes < 5000; bytes += 13) {
    const std::size_t before = in_use();
    const Storage storage(bytes, Device::cpu);
    const std::size_t block = in_use() - before;
    INFO(bytes << " bytes lie in a block of " << block);
    CHECK(storage.bytes() == bytes);
    CHECK(block >= bytes);
    if (bytes > 64) CHECK(3 * (block - bytes) < block);
    storage.data()[bytes - 1] = std::byte{1};
  }
  const std::size_t before = in_use();
  const Storage nothing(0, Device::cpu);
  CHECK(in_use() - before == 64);
}

TEST_CASE("a released block is served again, and only to one") {
  const std::byte* where = nullptr;
  {
    const Storage first(1000, Device::cpu);
    where = first.data();
  }
  const PoolStatistics before = pool_statistics();
  const Storage again(990, Device::cpu), other(1000, Device::cpu);
  const PoolStatistics after = pool_statistics();
  CHECK(again.data() == where);
  CHECK(other.data() != where);
  CHECK(after.from_pool + after.from_system == before.from_pool + before.from_system + 2);
  CHECK(after.from_pool > before.from_pool);
}

TEST_CASE("bytes in use return to what they were") {
  const std::size_t before = in_use();
  {
    std::vector<Tensor> tensors;
    for (std::int64_t n = 1; n < 100; n += 7) tensors.emplace_back(Shape{n, n}, DType::f16);
    CHECK(in_use() > before);
  }
  CHECK(in_use() == before);
}

TEST_CASE("an emptied pool asks the system again") {
  { const Storage storage(777, Device::cpu); }
  empty_pool();
  const PoolStatistics before = pool_statistics();
  const Storage storage(777, Device::cpu);
  CHECK(pool_statistics().from_system == before.from_system + 1);
  CHECK(pool_statistics().from_pool == before.from_pool);
}

TEST_CASE("threads may ask for and release blocks at once") {
  const std::size_t before = in_use();
  const auto work = [](unsigned char mark, bool& mine) {
    for (int round = 0; round < 500; ++round) {
      const Storage storage(static_cast<std::size_t>(100 + round % 5 * 100), Device::cpu);
      auto* bytes = reinterpret_cast<unsigned char*>(storage.data());
      std::fill_n(bytes, storage.bytes(), mark);
      for (std::size_t i = 0; i < storage.bytes(); ++i) mine = mine && bytes[i] == mark;
    }
  };
  bool first_ok = true, second_ok = true;
  std::thread first(work, static_cast<unsigned char>(1), std::ref(first_ok));
  std::thread second(work, static_cast<unsigned char>(2), std::ref(second_ok));
  first.join();
  second.join();
  CHECK(first_ok);
  CHECK(second_ok);
  CHECK(in_use() == before);
}

/// A device whose memory ends after some blocks.
struct SmallAllocator : Allocator {
  int left = 0;
  void* allocate(std::size_t bytes) override {
    expect(left > 0, "no memory left on the pretended device");
    --left;
    return allocator(Device::cpu).allocate(bytes);
  }
  void release(void* memory, std::size_t bytes) noexcept override {
    ++left;
    allocator(Device::cpu).release(memory, bytes);
  }
};

TEST_CASE("each device has memory of its own - one that has run out is no harm to the count") {
  CHECK_THROWS_AS(Tensor({2}, DType::f32, Device::cuda), MissingError);
  static SmallAllocator small;
  register_device(Device::cuda, []() -> Allocator& { return small; });
  small.left = 1;
  const std::size_t before = in_use();
  {
    const Storage there(5000, Device::cuda);
    CHECK(there.device() == Device::cuda);
    CHECK_SAYS("no memory left", Storage(5000, Device::cuda));
    CHECK(in_use() - before >= 5000);
    CHECK(in_use() - before < 10000);
  }
  CHECK(in_use() == before);
  const std::size_t asked = pool_statistics().from_system;
  const Storage here(5000, Device::cpu);  // the pretended device's block is not for the CPU
  const Storage there(5000, Device::cuda);
  CHECK(small.left == 0);
  CHECK(pool_statistics().from_system <= asked + 1);
}

}  // namespace
}  // namespace tinymp::test
