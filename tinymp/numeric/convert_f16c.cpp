#include <tinymp/numeric/convert_f16c.h>

// Compiled with -mf16c -mavx, so nothing here may be shared with other files: of an inline function the
// linker keeps one copy, perhaps this one, for every machine. Hence plain pointers and no other header of
// ours.

#if defined(__F16C__)
#include <immintrin.h>

namespace tinymp::f16c {

const bool compiled = true;

// The instructions keep the sign and payload of a NaN; ours is always the same one.
static __m256 canonical_nan(__m256 x) {
  const __m256 is_nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
  return _mm256_blendv_ps(x, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc0'0000)), is_nan);
}

static __m128i eight_halves(__m256 x) {
  return _mm256_cvtps_ph(canonical_nan(x), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static __m256 eight_floats(__m128i x) { return canonical_nan(_mm256_cvtph_ps(x)); }

void half_bits_from_floats(const float* in, std::uint16_t* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), eight_halves(_mm256_loadu_ps(in + i)));
  if (i == n) return;
  alignas(32) float rest[8] = {};
  alignas(16) std::uint16_t halves[8];
  for (std::size_t j = 0; j < n - i; ++j) rest[j] = in[i + j];
  _mm_store_si128(reinterpret_cast<__m128i*>(halves), eight_halves(_mm256_load_ps(rest)));
  for (std::size_t j = 0; j < n - i; ++j) out[i + j] = halves[j];
}

void floats_from_half_bits(const std::uint16_t* in, float* out, std::size_t n) {
  std::size_t i = 0;
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(out + i, eight_floats(_mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i))));
  if (i == n) return;
  alignas(16) std::uint16_t rest[8] = {};
  alignas(32) float floats[8];
  for (std::size_t j = 0; j < n - i; ++j) rest[j] = in[i + j];
  _mm256_store_ps(floats, eight_floats(_mm_load_si128(reinterpret_cast<const __m128i*>(rest))));
  for (std::size_t j = 0; j < n - i; ++j) out[i + j] = floats[j];
}

}  // namespace tinymp::f16c

#else

namespace tinymp::f16c {
const bool compiled = false;
void half_bits_from_floats(const float*, std::uint16_t*, std::size_t) {}
void floats_from_half_bits(const std::uint16_t*, float*, std::size_t) {}
}  // namespace tinymp::f16c

#endif
