#pragma once

#include <tinymp/numeric/small_float.h>

/// The two FP8 formats. They are for storage and for the operands of a matrix product. No processor adds two
/// FP8 numbers, and these types have no arithmetic. Convert to float, compute, and name
/// the Overflow when you convert back.
namespace tinymp {

/// More fraction and less range, for weights and activations that are scaled to fit. The largest number is
/// 448, and there is no infinity: beyond 464, where rounding would pass 448, Overflow::infinity gives NaN.
/// (PyTorch's .to(float8_e4m3fn) saturates at 448, infinities too: Overflow::saturate, bit for bit.)
using float8_e4m3 = small_float<4, 3, Specials::one_nan>;

/// The exponent of half with two bits of fraction, for gradients. The largest number is 57344.
using float8_e5m2 = small_float<5, 2, Specials::ieee>;

static_assert(sizeof(float8_e4m3) == 1 && std::is_trivial_v<float8_e4m3>);
static_assert(sizeof(float8_e5m2) == 1 && std::is_trivial_v<float8_e5m2>);

}  // namespace tinymp
