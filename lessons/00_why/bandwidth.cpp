#include <fmt/format.h>
#include <kernels/kernels.h>
#include <lessons/00_why/bandwidth.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/tensor/tensor.h>
#include <algorithm>
#include <ctime>

namespace tinymp::lab {
namespace {

/// Three arrays of n values: two are read, one is written.
struct Arrays {
  Arrays(std::int64_t n, DType dtype) : a({n}, dtype), b({n}, dtype), y({n}, dtype) {
    kernels::fill(a.view(), 0.5);
    kernels::fill(b.view(), 0.25);
  }
  double bytes() const { return static_cast<double>(3 * a.size()) * static_cast<double>(size_of(a.dtype())); }

  /// Seconds of processor time an addition, over some milliseconds of them. Other programs do not count.
  double seconds() const {
    const std::int64_t repeats = std::max<std::int64_t>(1, (std::int64_t{1} << 23) / a.size());
    const std::clock_t start = std::clock();
    for (std::int64_t i = 0; i < repeats; ++i) kernels::add(a.view(), b.view(), y.view());
    const auto ticks =
        static_cast<double>(std::max<std::clock_t>(1, std::clock() - start));  // a coarse clock
    return ticks / CLOCKS_PER_SEC / static_cast<double>(repeats);
  }

  Tensor a, b, y;
};

/// While it lives, loops use one thread.
struct OneThread {
  OneThread() { set_threads(1); }
  ~OneThread() { set_threads(before); }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;
  const int before = threads();
};

void show(Lab& lab, const char* where, std::int64_t n) {
  const Arrays wide(n, DType::f32), narrow(n, DType::f16);
  double f32 = wide.seconds(), f16 = narrow.seconds();
  // The fastest round: others disturbed it least.
  for (int round = 1; round < lab.steps(250, 3); ++round) {
    f32 = std::min(f32, wide.seconds());
    f16 = std::min(f16, narrow.seconds());
  }
  lab.say(fmt::format("{:<18} {:>10} {:>9.3f} {:>10.1f} {:>9.3f} {:>10.1f} {:>10.2f}", where, n, 1e3 * f32,
                      1e-9 * wide.bytes() / f32, 1e3 * f16, 1e-9 * narrow.bytes() / f16, f16 / f32));
  lab.number(concat("y = a + b, ", where, ": FP16's time over FP32's"), f16 / f32);
}

}  // namespace

void show_bandwidth(Lab& lab) {
  const OneThread alone;
  lab.say("\ny = a + b              values   FP32 ms       GB/s   FP16 ms       GB/s  FP16/FP32");
  show(lab, "in the cache", 1 << 14);
  show(lab, "beyond the cache", lab.steps(1 << 24, 1 << 22));
}

}  // namespace tinymp::lab
