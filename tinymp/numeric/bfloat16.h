#pragma once

#include <tinymp/numeric/small_float.h>

namespace tinymp {

/// The upper half of a float: its range, from 2^-133 to 3.39 * 10^38, with 8 significant bits in place of 24.
/// half has 11 of them, and a range that gradients leave.
using bfloat16 = small_float<8, 7, Specials::ieee>;

static_assert(sizeof(bfloat16) == 2 && std::is_trivial_v<bfloat16> && std::is_standard_layout_v<bfloat16>);

/// Each operation rounds once, although it is computed in float and rounded again: 24 >= 2 * 8 + 2 (half.h
/// tells of Figueroa's theorem). As there, results that are subnormal need a word of their own, because those
/// of float are too: they are multiples of 2^-149, and a middle m of two bfloat16 is an odd multiple of
/// 2^-134. A sum is a multiple of 2^-133 and exact. A product of two significands of 8 bits has 16; that is
/// exact down to 2^-134, and below m = 2^-134 all is nearer to 0, as is m. A quotient a / b is m, or |a - m
/// b| is at least a unit of the last place of a or of m b, and a / b and m differ by 2^-142 or more, of which
/// float loses 2^-150.
TINYMP_HD constexpr bfloat16 operator+(bfloat16 a, bfloat16 b) { return bfloat16(float(a) + float(b)); }
TINYMP_HD constexpr bfloat16 operator-(bfloat16 a, bfloat16 b) { return bfloat16(float(a) - float(b)); }
TINYMP_HD constexpr bfloat16 operator*(bfloat16 a, bfloat16 b) { return bfloat16(float(a) * float(b)); }
TINYMP_HD constexpr bfloat16 operator/(bfloat16 a, bfloat16 b) { return bfloat16(float(a) / float(b)); }
TINYMP_HD constexpr bfloat16& operator+=(bfloat16& a, bfloat16 b) { return a = a + b; }
TINYMP_HD constexpr bfloat16& operator-=(bfloat16& a, bfloat16 b) { return a = a - b; }
TINYMP_HD constexpr bfloat16& operator*=(bfloat16& a, bfloat16 b) { return a = a * b; }
TINYMP_HD constexpr bfloat16& operator/=(bfloat16& a, bfloat16 b) { return a = a / b; }

}  // namespace tinymp
