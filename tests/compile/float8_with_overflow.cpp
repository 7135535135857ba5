#include <tinymp/numeric/float8.h>

tinymp::float8_e4m3 quarter() { return tinymp::float8_e4m3(0.25f, tinymp::Overflow::saturate); }
