#include <tinymp/numeric/half.h>

tinymp::half quarter() { return tinymp::half(0.25f); }
