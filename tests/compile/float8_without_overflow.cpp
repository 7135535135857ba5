#include <tinymp/numeric/float8.h>

// Is what is too large to become NaN or 448? Every conversion says.
tinymp::float8_e4m3 quarter() { return tinymp::float8_e4m3(0.25f); }
