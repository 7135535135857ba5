#include <kernels/cpu/fast/gemm_tile.h>

#if defined(__AVX512F__)
#include <immintrin.h>

namespace tinymp::kernels::cpu {
namespace {

using Vector = __m512;
constexpr int width = 16, rows = 12, vectors = 2;  // 24 of the 32 registers hold sums

Vector load(const float* p) { return _mm512_loadu_ps(p); }
void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
Vector broadcast(float x) { return _mm512_set1_ps(x); }
Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
// The masked forms: g++ 12 warns of an uninitialised value inside the plain ones.
Vector round_to_half(Vector v) {
  return _mm512_maskz_cvtph_ps(0xffff, _mm512_maskz_cvtps_ph(0xffff, v, _MM_FROUND_TO_NEAREST_INT));
}

}  // namespace
#include <kernels/cpu/fast/gemm_micro.inc>

GemmTile gemm_tile_avx512() { return {rows, vectors * width, multiply}; }

}  // namespace tinymp::kernels::cpu

#else  // not an x86-64 build

tinymp::kernels::cpu::GemmTile tinymp::kernels::cpu::gemm_tile_avx512() { return {0, 0, nullptr}; }

#endif
