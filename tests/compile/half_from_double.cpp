#include <tinymp/numeric/half.h>

// Would round twice: double to float to half. Meant is half(0.25f), or half_from_double of convert.h.
tinymp::half quarter() { return tinymp::half(0.25); }
