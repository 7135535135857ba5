#pragma once

#include <cstdint>
#include <type_traits>

/// Loops over many cores. Any thread may run any piece, so a body must give the same result however its range
/// is cut. That is why a seed gives the same bits for any number of threads.
namespace tinymp {

/// The number of threads that parallel_for uses: at first the number of cores, or TINYMP_THREADS.
int threads();

/// Throws UsageError unless 1 <= n <= 1024. Do not call it inside a parallel_for.
void set_threads(int n);

namespace detail {
using RangeBody = void (*)(void* context, std::int64_t begin, std::int64_t end);
void parallel_ranges(std::int64_t n, std::int64_t grain, RangeBody body, void* context);
}  // namespace detail

/// Calls body(begin, end) on ranges that together cover 0 .. n. Each is `grain` long; the last may be
/// shorter. Runs in the calling thread when n <= grain or inside another parallel_for. Rethrows an exception
/// of a body.
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
