#pragma once

#include <tinymp/numeric/small_float.h>

namespace tinymp {

/// FP4, the OCP Microscaling Formats Specification 1.0, section 5.3.3: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their
/// negatives. The code is the last four bits of a byte; the first four are 0. There is neither infinity nor NaN:
/// a conversion saturates at 6 under both Overflows, and NaN becomes 0x7, which is 6. So check for NaN before
/// you convert. This type is for storage beside a scale: FP4 alone has too little range.
using float4_e2m1 = small_float<2, 1, Specials::none>;

static_assert(sizeof(float4_e2m1) == 1 && std::is_trivial_v<float4_e2m1>);

}  // namespace tinymp
