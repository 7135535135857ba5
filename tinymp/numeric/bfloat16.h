#pragma once

#include <tinymp/numeric/small_float.h>

namespace tinymp {

/// The upper half of a float. It has the range of float, from 2^-133 to 3.39 * 10^38, and 8 significant bits
/// instead of 24. half has 11 significant bits, but a range that gradients leave.
using bfloat16 = small_float<8, 7, Specials::ieee>;

static_assert(sizeof(bfloat16) == 2 && std::is_trivial_v<bfloat16> && std::is_standard_layout_v<bfloat16>);

/// Each operation gives the bits of one rounding, although it is computed in float and rounded again, because
/// 24 >= 2 * 8 + 2 (half.h names Figueroa's theorem). The theorem does not cover subnormal results. There
/// float is subnormal too: its numbers are multiples of 2^-149. A midpoint m of two bfloat16 numbers is an
/// odd multiple of 2^-134.
///   sum        It is a multiple of 2^-133, so it is exact.
///   product    It has 16 significant bits, so it is exact down to 2^-134. A smaller one rounds to 0, as does
///              m = 2^-134.
///   quotient   a / b is m, or |a - m b| is at least a unit of the last place of a or of m b. Then a / b and
///              m differ by 2^-142 or more, and float loses only 2^-150.
TINYMP_HD constexpr bfloat16 operator+(bfloat16 a, bfloat16 b) { return bfloat16(float(a) + float(b)); }
TINYMP_HD constexpr bfloat16 operator-(bfloat16 a, bfloat16 b) { return bfloat16(float(a) - float(b)); }
TINYMP_HD constexpr bfloat16 operator*(bfloat16 a, bfloat16 b) { return bfloat16(float(a) * float(b)); }
TINYMP_HD constexpr bfloat16 operator/(bfloat16 a, bfloat16 b) { return bfloat16(float(a) / float(b)); }
TINYMP_HD constexpr bfloat16& operator+=(bfloat16& a, bfloat16 b) { return a = a + b; }
TINYMP_HD constexpr bfloat16& operator-=(bfloat16& a, bfloat16 b) { return a = a - b; }
TINYMP_HD constexpr bfloat16& operator*=(bfloat16& a, bfloat16 b) { return a = a * b; }
TINYMP_HD constexpr bfloat16& operator/=(bfloat16& a, bfloat16 b) { return a = a / b; }

}  // namespace tinymp
