#include <tinymp/numeric/half.h>

// Is it the value 1 or the bits 1? half(1.0f), or half::from_bits(1).
tinymp::half one() { return tinymp::half(1); }
