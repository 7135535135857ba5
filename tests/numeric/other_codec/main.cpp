#include <tinymp/numeric/convert.h>
#include <tinymp/numeric/quantize.h>
#include <cstdio>
#include <vector>

// Built with another half_codec.h and another e5m2_from_float.h in front: whatever converts has to go through these, on
// every machine.
int main() {
  using namespace tinymp;
  int failures = 0;
  const auto check = [&](const char* what, half got, std::uint16_t expected) {
    if (got.bits() == expected) return;
    std::printf("%s: got %s, expected %s\n", what, to_bit_string(got).c_str(),
                to_bit_string(half::from_bits(expected)).c_str());
    ++failures;
  };
  // 2051 lies between 2050 and 2052: cut off it is the former, to nearest even the latter.
  check("half(2051)", half(2051.0f), 0b0'11010'0000000001);
  check("2048 + 3", half(2048.0f) + half(3.0f), 0b0'11010'0000000001);
  check("double to half", half_from_double(2051.0), 0b0'11010'0000000001);
  const std::vector<float> floats(37, 2051.0f);
  std::vector<half> halves(37);
  convert(floats, halves);
  for (half x : halves) check("in bulk", x, 0b0'11010'0000000001);
  // This codec takes the exponent 31 for a number like the others.
  const std::vector<half> infinities(37, half::from_bits(0b0'11111'0000000000));
  std::vector<float> wide(37);
  convert(infinities, wide);
  for (float x : wide)
    if (x != 65536.0f) ++failures;
  // 7.9 lies between 7 and 8: cut off it is 7, to nearest 8.
  const std::vector<float> eighths(37, 7.9f);
  std::vector<float8_e5m2> converted(37), quantized(37);
  convert(eighths, converted);
  for (const Overflow overflow : {Overflow::infinity, Overflow::saturate}) {
    quantize<float8_e5m2>(eighths, 1, {.overflow = overflow}, {}, 0, quantized);
    for (std::size_t i = 0; i < quantized.size(); ++i)
      if (converted[i].bits() != 0b0'10001'11 || quantized[i].bits() != 0b0'10001'11) ++failures;
  }
  if (failures != 0) std::printf("%d failures; conversion by the %s\n", failures, half_conversion());
  return failures == 0 ? 0 : 1;
}
