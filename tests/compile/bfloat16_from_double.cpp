#include <tinymp/numeric/bfloat16.h>

// Would round twice: double to float to bfloat16.
tinymp::bfloat16 quarter() { return tinymp::bfloat16(0.25); }
