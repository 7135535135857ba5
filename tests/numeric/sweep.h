#pragma once

#include <tests/catch.h>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace tinymp::test {

/// Counts what went wrong in many threads and keeps the first few in words.
class Mismatches {
 public:
  /// `describe` makes the text, and is only called while there is room for it.
  template <class Describe>
  void add(Describe&& describe) {
    if (count_.fetch_add(1) >= 4) return;
    const std::lock_guard lock(mutex_);
    examples_ += describe() + "\n";
  }
  std::uint64_t count() const { return count_; }
  const std::string& examples() const { return examples_; }

 private:
  std::atomic<std::uint64_t> count_ = 0;
  std::mutex mutex_;
  std::string examples_;
};

/// body(first, last) on pieces of [0, n), on every core.
template <class Body>
void sweep(std::uint64_t n, Body&& body) {
  constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;
  std::atomic<std::uint64_t> next = 0;
  const auto work = [&] {
    for (std::uint64_t first; (first = next.fetch_add(kPiece)) < n;)
      body(first, first + std::min(kPiece, n - first));
  };
  std::vector<std::thread> threads(std::max(1u, std::thread::hardware_concurrency()) - 1);
  for (std::thread& thread : threads) thread = std::thread(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

}  // namespace tinymp::test

/// Fails with the examples unless nothing was added.
#define CHECK_NONE(mismatches)        \
  do {                                \
    INFO((mismatches).examples());    \
    CHECK((mismatches).count() == 0); \
  } while (false)
