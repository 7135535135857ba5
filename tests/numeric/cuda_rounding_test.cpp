#include <tests/catch.h>
#include <tests/numeric/show.h>
#include <tests/numeric/sweep.h>
#include <tinymp/numeric/float8_e8m0.h>
#include <tinymp/numeric/rounded.h>

/// Rounding toward zero, FP4 and E8M0 against the conversions of CUDA's own headers, which a plain C++ compiler runs on
/// the CPU. cuda_fp4.h and E8M0 came with version 12.8.
#if __has_include(<cuda_bf16.h>) && __has_include(<cuda_fp4.h>) && __has_include(<cuda_fp8.h>)
#define TINYMP_HAS_CUDA_FP4
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>
#endif

namespace tinymp::test {
namespace {

#if defined(TINYMP_HAS_CUDA_FP4)
/// Bits for bits. Any NaN will do for a NaN, and CUDA has others.
void check(const char* what, float x, unsigned got, unsigned cuda, Mismatches& wrong) {
  if (got == cuda) return;
  wrong.add([&] {
    char text[96];
    std::snprintf(text, sizeof text, "%s: got 0x%x, CUDA has 0x%x, of\n", what, got, cuda);
    return text + show(x);
  });
}

void check_float(float x, Mismatches& wrong) {
  check("E8M0 up", x, e8m0_rounded_up(x).bits(), __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundPosInf),
        wrong);
  check("E8M0 down", x, e8m0_rounded_down(x).bits(), __nv_cvt_float_to_e8m0(x, __NV_SATFINITE, cudaRoundZero),
        wrong);
  const auto fp4 = rounded<float4_e2m1>(x, Rounding::nearest_even);
  check("FP4", x, fp4.bits(), __nv_cvt_float_to_fp4(x, __NV_E2M1, cudaRoundNearest), wrong);
  if (x != x) return;
  const auto f16 = rounded<half>(x, Rounding::toward_zero);
  check("half toward zero", x, f16.bits(), __half_raw(__float2half_rz(x)).x, wrong);
  const auto bf16 = rounded<bfloat16>(x, Rounding::toward_zero);
  check("bfloat16 toward zero", x, bf16.bits(), __nv_bfloat16_raw(__float2bfloat16_rz(x)).x, wrong);
  check("half up", x, rounded<half>(x, Rounding::up).bits(), __half_raw(__float2half_ru(x)).x, wrong);
  check("half down", x, rounded<half>(x, Rounding::down).bits(), __half_raw(__float2half_rd(x)).x, wrong);
  const auto up = rounded<bfloat16>(x, Rounding::up), down = rounded<bfloat16>(x, Rounding::down);
  check("bfloat16 up", x, up.bits(), __nv_bfloat16_raw(__float2bfloat16_ru(x)).x, wrong);
  check("bfloat16 down", x, down.bits(), __nv_bfloat16_raw(__float2bfloat16_rd(x)).x, wrong);
}

void check_floats(std::uint64_t stride) {
  Mismatches wrong;
  sweep((std::uint64_t{1} << 32) / stride, [&](std::uint64_t first, std::uint64_t last) {
    for (std::uint64_t i = first; i < last; ++i)
      check_float(std::bit_cast<float>(static_cast<std::uint32_t>(i * stride)), wrong);
  });
  CHECK_NONE(wrong);
}

TEST_CASE("rounded: floats a stride apart against CUDA's headers") { check_floats(1009); }
TEST_CASE("rounded: all 2^32 floats against CUDA's headers", "[exhaustive]") { check_floats(1); }
#else
constexpr const char* kMissing =
    "cuda_bf16.h and cuda_fp8.h are not here, or without FP4, which came with CUDA 12.8";
TEST_CASE("rounded: floats a stride apart against CUDA's headers") { SKIP_TEST(kMissing); }
TEST_CASE("rounded: all 2^32 floats against CUDA's headers", "[exhaustive]") { SKIP_TEST(kMissing); }
#endif

}  // namespace
}  // namespace tinymp::test
