#include <lessons/lab/bench/fma_peak.h>
#include <tinymp/base/parallel_for.h>
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

// The result of a multiply-add is ready after about four cycles, and two can begin in each cycle. With eight
// or more independent chains the units are never idle.
namespace tinymp::kernels::bench {
namespace {

// Chains settle at addend / (1 - factor): no overflow, no subnormals.
constexpr float factor = 0.5f, addend = 1.0f;

#if defined(__x86_64__)

#define TINYMP_TWELVE(f) f(0) f(1) f(2) f(3) f(4) f(5) f(6) f(7) f(8) f(9) f(10) f(11)

__attribute__((target("avx2,fma"))) float fma_avx2(std::int64_t rounds) {
  const __m256 by = _mm256_set1_ps(factor), plus = _mm256_set1_ps(addend);
  __m256 sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = _mm256_set1_ps(static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r) {
#define TINYMP_STEP(i) sum[i] = _mm256_fmadd_ps(sum[i], by, plus);
    TINYMP_TWELVE(TINYMP_STEP)
#undef TINYMP_STEP
  }
  for (int i = 1; i < 12; ++i) sum[0] = _mm256_add_ps(sum[0], sum[i]);
  return _mm256_cvtss_f32(sum[0]);
}

__attribute__((target("avx512f"))) float fma_avx512(std::int64_t rounds) {
  const __m512 by = _mm512_set1_ps(factor), plus = _mm512_set1_ps(addend);
  __m512 sum[12];
  for (int i = 0; i < 12; ++i) sum[i] = _mm512_set1_ps(static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r) {
#define TINYMP_STEP(i) sum[i] = _mm512_fmadd_ps(sum[i], by, plus);
    TINYMP_TWELVE(TINYMP_STEP)
#undef TINYMP_STEP
  }
  for (int i = 1; i < 12; ++i) sum[0] = _mm512_add_ps(sum[0], sum[i]);
  return _mm512_cvtss_f32(sum[0]);
}

#undef TINYMP_TWELVE

std::vector<FmaLoop> loops_here() {
  std::vector<FmaLoop> loops;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    loops.push_back({"avx2", 12 * 8 * 2, fma_avx2});
  if (__builtin_cpu_supports("avx512f")) loops.push_back({"avx512", 12 * 16 * 2, fma_avx512});
  return loops;
}

#else

float fma_plain(std::int64_t rounds) {
  constexpr int lanes = 64;  // the compiler makes vectors of them
  float sum[lanes];
  for (int i = 0; i < lanes; ++i) sum[i] = static_cast<float>(i);
  for (std::int64_t r = 0; r < rounds; ++r) {
    for (int i = 0; i < lanes; ++i) sum[i] = std::fma(sum[i], factor, addend);
  }
  float total = 0;
  for (const float value : sum) total += value;
  return total;
}

std::vector<FmaLoop> loops_here() { return {{"plain", 64 * 2, fma_plain}}; }

#endif

std::atomic<float> sink;  ///< keeps the compiler from dropping the results

}  // namespace

std::span<const FmaLoop> fma_loops() {
  static const std::vector<FmaLoop> loops = loops_here();
  return loops;
}

double fma_seconds(const FmaLoop& loop, int threads, std::int64_t rounds) {
  const auto start = std::chrono::steady_clock::now();
  parallel_for(threads, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) sink = loop.run(rounds);
  });
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double fma_rate(const FmaLoop& loop, int threads, double seconds) {
  constexpr std::int64_t few = 100'000;
  fma_seconds(loop, threads,
              few);  // a processor widens its units, and lowers its clock for them, when they are used
  const double each = fma_seconds(loop, threads, few) / few;
  const auto rounds = static_cast<std::int64_t>(std::clamp(seconds / each, 1.0, 1e10));
  return 1e-9 * threads * loop.operations * static_cast<double>(rounds) / fma_seconds(loop, threads, rounds);
}

}  // namespace tinymp::kernels::bench
