#include <tinymp/base/isa.h>
#include <tinymp/numeric/convert_f16c.h>
#include <tinymp/numeric/half_codec.h>

#if defined(__x86_64__)
#include <immintrin.h>

// The instructions keep the sign and payload of a NaN; canonical() replaces every NaN by the same one.
namespace tinymp::f16c {
namespace {

constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;

// 8 values at a time. half_codec.h, which gives the same bits, converts the rest.

TINYMP_AVX2 inline __m256 canonical(__m256 x) {
  const __m256 is_nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  return _mm256_blendv_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc0'0000)), is_nan);
}
TINYMP_AVX2 inline __m128i narrow(__m256 x) { return _mm256_cvtps_ph(canonical(x), nearest); }
TINYMP_AVX2 inline __m256 widen(__m128i x) { return canonical(_mm256_cvtph_ps(x)); }

TINYMP_AVX2 void narrow_by_8(const float* in, std::uint16_t* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), narrow(_mm256_loadu_ps(in + i)));
  for (; i < n; ++i) out[i] = half_bits_from_float(in[i]);
}

TINYMP_AVX2 void widen_by_8(const std::uint16_t* in, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, widen(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  for (; i < n; ++i) out[i] = float_from_half_bits(in[i]);
}

TINYMP_AVX2 void round_by_8(float* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(x + i, widen(narrow(_mm256_loadu_ps(x + i))));
  for (; i < n; ++i) x[i] = float_from_half_bits(half_bits_from_float(x[i]));
}

// 16 values at a time; a mask selects the last ones. (All calls are masked, because g++ 12 warns of an
// uninitialised value inside the plain ones.)

constexpr __mmask16 all = 0xffff;

TINYMP_AVX512 inline __m512 canonical(__m512 x) {
  // The table has 4 bits for each kind of number. The quiet and the signalling NaN have 0: take the first
  // operand. Zero, one, the infinities and all others have 1: take x.
  return _mm512_fixupimm_ps(_mm512_castsi512_ps(_mm512_set1_epi32(0x7fc0'0000)), x,
                            _mm512_set1_epi32(0x1111'1100), 0);
}
TINYMP_AVX512 inline __m256i narrow(__m512 x) { return _mm512_maskz_cvtps_ph(all, canonical(x), nearest); }
TINYMP_AVX512 inline __m512 widen(__m256i x) { return canonical(_mm512_maskz_cvtph_ps(all, x)); }

TINYMP_AVX512 inline void narrow_16(const float* in, std::uint16_t* out, __mmask16 mask) {
  _mm256_mask_storeu_epi16(out, mask, narrow(_mm512_maskz_loadu_ps(mask, in)));
}
TINYMP_AVX512 inline void widen_16(const std::uint16_t* in, float* out, __mmask16 mask) {
  _mm512_mask_storeu_ps(out, mask, widen(_mm256_maskz_loadu_epi16(mask, in)));
}
TINYMP_AVX512 inline void round_16(float* x, __mmask16 mask) {
  _mm512_mask_storeu_ps(x, mask, widen(narrow(_mm512_maskz_loadu_ps(mask, x))));
}

TINYMP_AVX512 inline __mmask16 first(std::size_t n) { return static_cast<__mmask16>((1u << n) - 1); }

TINYMP_AVX512 void narrow_by_16(const float* in, std::uint16_t* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) narrow_16(in + i, out + i, all);
  if (i < n) narrow_16(in + i, out + i, first(n - i));
}

TINYMP_AVX512 void widen_by_16(const std::uint16_t* in, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) widen_16(in + i, out + i, all);
  if (i < n) widen_16(in + i, out + i, first(n - i));
}

TINYMP_AVX512 void round_by_16(float* x, std::size_t n) {
  std::size_t i = 0;
  for (; i + 16 <= n; i += 16) round_16(x + i, all);
  if (i < n) round_16(x + i, first(n - i));
}

}  // namespace

bool usable() { return isa() != Isa::portable; }

void half_bits_from_floats(const float* in, std::uint16_t* out, std::size_t n) {
  return isa() == Isa::avx512 ? narrow_by_16(in, out, n) : narrow_by_8(in, out, n);
}
void floats_from_half_bits(const std::uint16_t* in, float* out, std::size_t n) {
  return isa() == Isa::avx512 ? widen_by_16(in, out, n) : widen_by_8(in, out, n);
}
void round_to_halves(float* x, std::size_t n) {
  return isa() == Isa::avx512 ? round_by_16(x, n) : round_by_8(x, n);
}

}  // namespace tinymp::f16c

#else

namespace tinymp::f16c {
bool usable() { return false; }
void half_bits_from_floats(const float*, std::uint16_t*, std::size_t) {}
void floats_from_half_bits(const std::uint16_t*, float*, std::size_t) {}
void round_to_halves(float*, std::size_t) {}
}  // namespace tinymp::f16c

#endif
