#include <tinymp/numeric/half.h>
#include <ostream>

namespace tinymp {

std::string to_bit_string(half x) {
  std::string text;
  for (int bit = 15; bit >= 0; --bit) {
    text += ((x.bits() >> bit) & 1) != 0 ? '1' : '0';
    if (bit == 15 || bit == 10) text += ' ';
  }
  return text;
}

std::ostream& operator<<(std::ostream& out, half x) { return out << static_cast<float>(x); }

}  // namespace tinymp
