#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tinymp::exercise {

/// The smallest i below n for which is_right(i) is false; n when there is none. On all cores.
template <class IsRight>
std::uint64_t first_wrong(std::uint64_t n, IsRight is_right) {
  const std::uint64_t block = 1 + n / 4096;
  std::atomic<std::uint64_t> next = 0, wrong = n;
  const auto work = [&] {
    for (std::uint64_t begin; (begin = next.fetch_add(block)) < std::min(n, wrong.load());) {
      const std::uint64_t end = std::min(n, begin + block);
      std::uint64_t i = begin;
      while (i < end && is_right(i)) ++i;
      for (std::uint64_t so_far = wrong; i < end && i < so_far && !wrong.compare_exchange_weak(so_far, i);) {
      }
    }
  };
  std::vector<std::thread> others(std::max(1u, std::thread::hardware_concurrency()) - 1);
  for (std::thread& other : others) other = std::thread(work);
  work();
  for (std::thread& other : others) other.join();
  return wrong;
}

}  // namespace tinymp::exercise
