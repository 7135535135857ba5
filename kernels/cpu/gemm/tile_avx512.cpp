#include <kernels/cpu/gemm/tile.h>

#if defined(__AVX512F__)
#include <immintrin.h>

namespace tinymp::kernels::cpu {
namespace {

using Vector = __m512;
using Mask = __mmask16;
constexpr int width = 16, most_rows = 12, narrow_rows = 16;  // 24 of the 32 registers hold sums

Mask first(int n) { return static_cast<Mask>((1u << n) - 1); }
Vector load(const float* p) { return _mm512_loadu_ps(p); }
Vector load(const float* p, Mask m) { return _mm512_maskz_loadu_ps(m, p); }
void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
void store(float* p, Vector v, Mask m) { _mm512_mask_storeu_ps(p, m, v); }
Vector broadcast(float x) { return _mm512_set1_ps(x); }
Vector multiply_add(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
// Masked forms, because g++ 12 warns of an uninitialised value inside the plain ones.
Vector round_to_half(Vector v) {
  return _mm512_maskz_cvtph_ps(0xffff, _mm512_maskz_cvtps_ph(0xffff, v, _MM_FROUND_TO_NEAREST_INT));
}

}  // namespace
#include <kernels/cpu/gemm/tile.inc>

Tile tile_avx512() { return {most_rows, 2 * width, narrow_rows, width, multiply}; }

}  // namespace tinymp::kernels::cpu

#else  // not an x86-64 build

tinymp::kernels::cpu::Tile tinymp::kernels::cpu::tile_avx512() { return {}; }

#endif
