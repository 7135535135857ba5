#include <tinymp/numeric/small_float.h>
#include <ostream>

namespace tinymp::detail {

std::string bit_string(std::uint32_t bits, int exponent_bits, int fraction_bits) {
  std::string text;
  for (int bit = exponent_bits + fraction_bits; bit >= 0; --bit) {
    text += ((bits >> bit) & 1) != 0 ? '1' : '0';
    if (bit == exponent_bits + fraction_bits || bit == fraction_bits) text += ' ';
  }
  return text;
}

std::ostream& print(std::ostream& out, float value) { return out << value; }

}  // namespace tinymp::detail
