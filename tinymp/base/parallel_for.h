#pragma once

#include <cstdint>
#include <type_traits>

/// Loops over many cores. Which thread runs which piece is left open, so a body must give the same result
/// however its range is cut: that, and nothing else, is why a seed gives the same bits for any number of
/// threads.
namespace tinymp {

/// Threads that parallel_for uses; at first the number of cores, or TINYMP_THREADS.
int threads();

/// Throws UsageError unless 1 <= n <= 1024. Not to be called inside a parallel_for.
void set_threads(int n);

namespace detail {
using RangeBody = void (*)(void* context, std::int64_t begin, std::int64_t end);
void parallel_ranges(std::int64_t n, std::int64_t grain, RangeBody body, void* context);
}  // namespace detail

/// Calls body(begin, end) on ranges that together cover 0 .. n, each `grain` long but for the last. Runs in
/// the calling thread when n <= grain or inside another parallel_for. An exception in a body is thrown on
/// here.
template <class Body>
void parallel_for(std::int64_t n, std::int64_t grain, Body&& body) {
  using Callable = std::remove_reference_t<Body>;
  detail::parallel_ranges(
      n, grain,
      [](void* context, std::int64_t begin, std::int64_t end) {
        (*static_cast<Callable*>(context))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

}  // namespace tinymp
