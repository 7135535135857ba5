#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/ops/ops.h>
#include <tinymp/tensor/storage.h>
#include <tinymp/tensor/tensor.h>
#include <chrono>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// Blocks count as what the region says, with the bytes that were asked for, until they are given back.
namespace tinymp::test {
namespace {

using enum MemoryKind;

std::shared_ptr<MemoryAccount> new_account() { return std::make_shared<MemoryAccount>(); }

TEST_CASE("memory: without a region nothing counts, and a block counts until it is given back") {
  const auto account = new_account();
  std::optional<Storage> outlives;
  const Storage before(100, Device::cpu);
  {
    const MemoryRegion region(account);
    const Storage inside(1001, Device::cpu);  // the pool's block is larger
    outlives.emplace(30, Device::cpu);
    CHECK(account->now(workspace) == 1031);
  }
  const Storage after(100, Device::cpu);
  CHECK(account->now(workspace) == 30);
  outlives.reset();
  CHECK(account->now(workspace) == 0);
  CHECK(account->peak(workspace) == 1031);
  CHECK(account->peak() == 1031);
}

TEST_CASE("memory: regions nest, and what only measures does not count") {
  const auto outer = new_account(), inner = new_account();
  const MemoryRegion region(outer);
  const Storage first(10, Device::cpu);
  {
    const MemoryRegion kept(activations);
    const Storage second(20, Device::cpu);
    const Storage scratch(5, Device::cpu, workspace);
    {
      const MemoryRegion other(inner, gradients);
      const Storage third(40, Device::cpu);
      CHECK(inner->now(gradients) == 40);
    }
    const Uncounted apart;
    const MemoryRegion still_apart(activations);
    Storage fourth(80, Device::cpu);
    fourth.count_as(weights);
    CHECK_FALSE(fourth.counts_as(weights));
    CHECK(outer->now(activations) == 20);
    CHECK(outer->now(workspace) == 15);
  }
  const Storage fifth(1, Device::cpu);
  CHECK(outer->now(workspace) == 11);
  CHECK(outer->now(activations) == 0);
  CHECK(outer->peak() == 35);
  CHECK(inner->peak() == 40);
}

TEST_CASE("memory: a block that would pass the limit is refused, and nothing of it counts") {
  const auto account = new_account();
  std::optional<Storage> uncounted(std::in_place, 50, Device::cpu);
  const MemoryRegion region(account);
  account->set_limit(100);
  const Storage first(60, Device::cpu, weights), second(40, Device::meta);
  const Storage of_a_kernel(1000, Device::cpu, scratch);  // no part of the limit
  const PoolStatistics before = pool_statistics();
  CHECK_THROWS_AS(Storage(1, Device::cpu), MemoryLimitError);
  CHECK_SAYS(
      "the limit of memory is 100 bytes, and 100 bytes are taken (weights 60, workspace 40): 7 more for "
      "masters",
      Storage(7, Device::cpu, masters));
  CHECK_THROWS_AS(uncounted->count_as(gradients), MemoryLimitError);
  uncounted.reset();
  CHECK(account->now(workspace) == 40);
  CHECK(account->now(masters) == 0);
  CHECK(account->now(gradients) == 0);
  CHECK(account->peak_without_scratch() == 100);
  CHECK(account->peak() == 1100);
  CHECK(pool_statistics().bytes_in_use + 64 == before.bytes_in_use);  // the one that did not count
  account->set_limit(0);
  CHECK_NOTHROW(Storage(1000, Device::cpu));
}

TEST_CASE("memory: a watcher sees each block but the scratch of kernels") {
  struct Watcher final : MemoryWatcher {
    std::vector<std::string> seen{};
    void taken(const void*, MemoryKind kind, std::int64_t bytes) override {
      seen.push_back(concat("+", name_of(kind), bytes));
    }
    void given_back(const void*) noexcept override { seen.emplace_back("-"); }
    void moved(const void*, MemoryKind to) override { seen.push_back(concat(">", name_of(to))); }
  } watcher;
  const auto account = new_account();
  account->set_watcher(&watcher);
  {
    const MemoryRegion region(account);
    Storage block(3, Device::meta);
    const Storage of_a_kernel(4, Device::cpu, scratch);
    block.count_as(activations);
    block.count_as(activations);
  }
  CHECK(watcher.seen == std::vector<std::string>{"+workspace3", ">activations", "-"});
}

TEST_CASE("memory: a block can turn out to be for something else, or come from another account") {
  const auto first = new_account(), second = new_account();
  Storage block(64, Device::cpu);
  const MemoryRegion region(first);
  block.count_as(masters);
  block.count_as(masters);
  CHECK(first->now(masters) == 64);
  block.count_as(weights);
  CHECK(first->now(masters) == 0);
  CHECK(first->now(weights) == 64);
  CHECK(first->peak() == 64);
  CHECK(block.counts_as(weights));
  {
    const MemoryRegion other(second);
    CHECK_FALSE(block.counts_as(weights));
    block.count_as(weights);
  }
  CHECK(first->now(weights) == 0);
  CHECK(second->now(weights) == 64);
}

TEST_CASE("memory: what ops make under a tape is kept, what backward makes is not") {
  const auto account = new_account();
  const MemoryRegion region(account);
  const Tensor batch({4, 8}), w({8, 2});
  w.set_requires_grad(true);
  w.count_as(weights);
  for (const Tensor& x : {batch, w})
    for (std::int64_t i = 0; i < x.size(); ++i) x.data<float>()[i] = 0.5f;
  CHECK(account->now(workspace) == 4 * 8 * 4);
  {
    Tape tape;
    const Tensor unused({3});  // made under the tape
    const Tensor loss = sum(relu(matmul(batch, w)));
    CHECK(account->now(activations) == (4 * 8 + 3 + 4 * 2 + 4 * 2 + 1) * 4);  // the op's input, too
    CHECK(account->now(workspace) == 0);
    tape.backward(loss);
    CHECK(account->peak(activations) == (4 * 8 + 3 + 4 * 2 + 4 * 2 + 1) * 4);
    CHECK(account->now(activations) == (4 * 8 + 3 + 1) * 4);  // handles of this test
    CHECK(account->now(workspace) == 8 * 2 * 4);              // the gradient of w
  }
  w.bind_grad(Tensor::like(w));
  CHECK(account->now(gradients) == 8 * 2 * 4);
  CHECK(account->now(weights) == 8 * 2 * 4);
}

TEST_CASE("memory: the threads of a loop count with their caller, other threads do not") {
  const auto account = new_account();
  constexpr std::int64_t pieces = 64;
  {
    const MemoryRegion region(account, gradients);
    std::vector<std::optional<Storage>> blocks(pieces);
    parallel_for(pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        blocks[static_cast<std::size_t>(i)].emplace(7, Device::cpu);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that other threads get some
      }
    });
    std::thread([] { const Storage of_nobody(1000, Device::cpu); }).join();
    CHECK(account->now(gradients) == 7 * pieces);
  }
  parallel_for(pieces, 1, [&](std::int64_t, std::int64_t) {
    const Storage after(9, Device::cpu);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  CHECK(account->now(gradients) == 0);
  CHECK(account->peak() == 7 * pieces);
}

TEST_CASE("memory: an account adds up what threads report at once") {
  const auto account = new_account();
  const auto work = [&] {
    const MemoryRegion region(account);
    for (int i = 0; i < 2000; ++i) {
      Storage block(static_cast<std::size_t>(1 + i % 90), Device::cpu);
      block.count_as(activations);
    }
  };
  std::thread first(work), second(work);
  first.join();
  second.join();
  CHECK(account->now(workspace) == 0);
  CHECK(account->now(activations) == 0);
  CHECK(account->peak() >= 90);
  CHECK(account->peak() <= 180);
}

}  // namespace
}  // namespace tinymp::test
