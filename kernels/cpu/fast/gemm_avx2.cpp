#include <kernels/cpu/fast/gemm_tile.h>

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>

namespace tinymp::kernels::cpu {
namespace {

using Vector = __m256;
constexpr int width = 8, rows = 6, vectors = 2;  // 12 of the 16 registers hold sums

Vector load(const float* p) { return _mm256_loadu_ps(p); }
void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
Vector broadcast(float x) { return _mm256_set1_ps(x); }
Vector multiply_add(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
Vector round_to_half(Vector v) { return _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT)); }

}  // namespace
#include <kernels/cpu/fast/gemm_micro.inc>

GemmTile gemm_tile_avx2() { return {rows, vectors * width, multiply}; }

}  // namespace tinymp::kernels::cpu

#else  // not an x86-64 build

tinymp::kernels::cpu::GemmTile tinymp::kernels::cpu::gemm_tile_avx2() { return {0, 0, nullptr}; }

#endif
