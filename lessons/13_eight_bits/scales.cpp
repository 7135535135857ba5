#include <lessons/13_eight_bits/eight_bits.h>

namespace tinymp::lab {

void ask_growing(Lab&) {}

}  // namespace tinymp::lab
