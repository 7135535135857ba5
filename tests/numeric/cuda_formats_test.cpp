#include <tests/catch.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/bfloat16.h>
#include <tinymp/numeric/float8.h>
#include <tinymp/numeric/quantize.h>
#include <algorithm>

/// The conversions of CUDA's own headers, which a plain C++ compiler runs on the CPU, as the oracle.
#if __has_include(<cuda_bf16.h>) && __has_include(<cuda_fp8.h>)
#define TINYMP_HAS_CUDA_FORMATS
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#endif

namespace tinymp::test {
namespace {

#if defined(TINYMP_HAS_CUDA_FORMATS)
template <__nv_fp8_interpretation_t format>
unsigned cuda_float8(float x, Overflow overflow) {
  return __nv_cvt_float_to_fp8(x, overflow == Overflow::saturate ? __NV_SATFINITE : __NV_NOSAT, format);
}

unsigned cuda_bfloat16(float x, Overflow) { return __nv_bfloat16_raw(__float2bfloat16_rn(x)).x; }

/// Bits for bits, any NaN for any NaN: CUDA's have other signs and payloads.
template <class T>
void check(float x, Overflow overflow, unsigned cuda, Mismatches& wrong) {
  const T got(x, overflow), expected = T::from_bits(static_cast<typename T::Bits>(cuda));
  if (got.bits() == expected.bits() || (isnan(got) && isnan(expected))) return;
  wrong.add([&] {
    return "of   " + show(x) + "\ngot  " + to_bit_string(got) + "\nCUDA " + to_bit_string(expected) + "\n";
  });
}

void check_floats(std::uint64_t stride, Mismatches& wrong) {
  sweep((std::uint64_t{1} << 32) / stride, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i) {
      const float x = std::bit_cast<float>(static_cast<std::uint32_t>(i * stride));
      check<bfloat16>(x, Overflow::infinity, cuda_bfloat16(x, Overflow::infinity), wrong);
      for (Overflow overflow : {Overflow::infinity, Overflow::saturate}) {
        check<float8_e4m3>(x, overflow, cuda_float8<__NV_E4M3>(x, overflow), wrong);
        check<float8_e5m2>(x, overflow, cuda_float8<__NV_E5M2>(x, overflow), wrong);
      }
    }
  });
}

/// quantize() of floats a stride apart, which makes many at a time.
template <class T>
void check_bulk(Overflow overflow, std::uint64_t stride, unsigned (*cuda)(float, Overflow),
                Mismatches& wrong) {
  sweep((std::uint64_t{1} << 32) / stride, [&](std::uint64_t first, std::uint64_t last) {
    std::vector<float> in(1 << 14);
    std::vector<T> out(in.size());
    for (std::uint64_t block = first; block < last; block += in.size()) {
      for (std::uint64_t i = 0; i < in.size(); ++i)
        in[i] = std::bit_cast<float>(static_cast<std::uint32_t>((block + i) * stride));
      quantize(std::span<const float>(in), 1, {.overflow = overflow}, {}, 0, std::span(out));
      for (std::size_t i = 0; i < in.size(); ++i) {
        const T expected = T::from_bits(static_cast<typename T::Bits>(cuda(in[i], overflow)));
        if (out[i].bits() == expected.bits() || (isnan(out[i]) && isnan(expected))) continue;
        wrong.add([&] {
          return "of " + show(in[i]) + "\ngot  " + to_bit_string(out[i]) + "\nCUDA " +
                 to_bit_string(expected);
        });
      }
    }
  });
}
void check_bulk(std::uint64_t stride) {
  Mismatches wrong;
  for (const Overflow overflow : {Overflow::infinity, Overflow::saturate}) {
    check_bulk<float8_e4m3>(overflow, stride, cuda_float8<__NV_E4M3>, wrong);
    check_bulk<float8_e5m2>(overflow, stride, cuda_float8<__NV_E5M2>, wrong);
  }
  CHECK_NONE(wrong);
}

template <class T, class ToHalf>
void check_codes(ToHalf to_half, Mismatches& wrong) {
  for (unsigned code = 0; code < 256; ++code) {
    const T x = T::from_bits(static_cast<typename T::Bits>(code));
    const float got = static_cast<float>(x);
    const float cuda = __half2float(__half(to_half(static_cast<unsigned char>(code))));
    const bool same = std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(cuda);
    if (!same && !(got != got && cuda != cuda)) wrong.add([&] { return show(got) + "\n" + show(cuda); });
  }
}

TEST_CASE("small floats: floats a stride apart against CUDA's headers") {
  Mismatches wrong;
  check_floats(1009, wrong);
  CHECK_NONE(wrong);
}

TEST_CASE("small floats: all 2^32 floats against CUDA's headers", "[exhaustive]") {
  Mismatches wrong;
  check_floats(1, wrong);
  CHECK_NONE(wrong);
}

TEST_CASE("small floats: FP8 in bulk, floats a stride apart against CUDA's headers") { check_bulk(1009); }
TEST_CASE("small floats: FP8 in bulk, all 2^32 floats against CUDA's headers", "[exhaustive]") {
  check_bulk(1);
}

TEST_CASE("small floats: all codes to float against CUDA's headers") {
  Mismatches wrong;
  check_codes<float8_e4m3>([](unsigned char c) { return __nv_cvt_fp8_to_halfraw(c, __NV_E4M3); }, wrong);
  check_codes<float8_e5m2>([](unsigned char c) { return __nv_cvt_fp8_to_halfraw(c, __NV_E5M2); }, wrong);
  for (unsigned code = 0; code < 65536; ++code) {
    __nv_bfloat16_raw raw;
    raw.x = static_cast<unsigned short>(code);
    const float got = static_cast<float>(bfloat16::from_bits(raw.x)),
                cuda = __bfloat162float(__nv_bfloat16(raw));
    const bool same = std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(cuda);
    if (!same && !(got != got && cuda != cuda)) wrong.add([&] { return show(got) + "\n" + show(cuda); });
  }
  CHECK_NONE(wrong);
}
#else
constexpr const char* kMissing = "cuda_bf16.h and cuda_fp8.h are not here; they come with the CUDA toolkit";
TEST_CASE("small floats: floats a stride apart against CUDA's headers") { SKIP_TEST(kMissing); }
TEST_CASE("small floats: all 2^32 floats against CUDA's headers", "[exhaustive]") { SKIP_TEST(kMissing); }
TEST_CASE("small floats: FP8 in bulk, floats a stride apart against CUDA's headers") { SKIP_TEST(kMissing); }
TEST_CASE("small floats: FP8 in bulk, all 2^32 floats against CUDA's headers", "[exhaustive]") {
  SKIP_TEST(kMissing);
}
TEST_CASE("small floats: all codes to float against CUDA's headers") { SKIP_TEST(kMissing); }
#endif

}  // namespace
}  // namespace tinymp::test
