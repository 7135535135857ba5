#include <kernels/cpu/gemm/tile.h>

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>

namespace tinymp::kernels::cpu {
namespace {

using Vector = __m256;
using Mask = __m256i;
constexpr int width = 8, most_rows = 6, narrow_rows = 10;  // 12 of the 16 registers hold sums

Mask first(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
Vector load(const float* p) { return _mm256_loadu_ps(p); }
Vector load(const float* p, Mask m) { return _mm256_maskload_ps(p, m); }
void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
void store(float* p, Vector v, Mask m) { _mm256_maskstore_ps(p, m, v); }
Vector broadcast(float x) { return _mm256_set1_ps(x); }
Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
Vector round_to_half(Vector v) { return _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); }

}  // namespace
#include <kernels/cpu/gemm/tile.inc>

Tile tile_avx2() { return {most_rows, 2 * width, narrow_rows, width, multiply}; }

}  // namespace tinymp::kernels::cpu

#else  // not an x86-64 build

tinymp::kernels::cpu::Tile tinymp::kernels::cpu::tile_avx2() { return {}; }

#endif
