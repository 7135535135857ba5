#include <tinymp/base/error.h>
#include <tinymp/base/float_environment.h>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace tinymp {
namespace {

// volatile, so that the program computes the values at run time: the compiler always rounds correctly.

// Compares the bits: with denormals-are-zero a comparison of values would take a subnormal for 0.
template <class T>
bool flushes_results() {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  const volatile T smallest_normal = std::numeric_limits<T>::min();
  const volatile T quarter = smallest_normal / 4;
  return std::bit_cast<Bits>(static_cast<T>(quarter)) == 0;
}

template <class T>
bool flushes_operands() {
  const volatile T subnormal = std::numeric_limits<T>::denorm_min();
  const volatile T normal = subnormal * (2 / std::numeric_limits<T>::epsilon());
  return normal == 0;
}

// Rounding to nearest takes 1 + ulp/4 down and 1 + 3 ulp/4 up; every other direction fails one of the two.
template <class T>
bool rounds_to_nearest() {
  const volatile T one = 1;
  const volatile T quarter_ulp = std::numeric_limits<T>::epsilon() / 4;
  const volatile T down = one + quarter_ulp;
  const volatile T up = one + 3 * quarter_ulp;
  return down == 1 && up == 1 + std::numeric_limits<T>::epsilon();
}

// Reads the control register of a known processor.
std::string control_register() {
#if defined(__SSE__)
  const auto binary = [](unsigned value) {
    std::string bits;
    for (int bit = 15; bit >= 0; --bit) bits += ((value >> bit) & 1) != 0 ? '1' : '0';
    return bits;
  };
  // Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, section 10.2.3.
  return concat(" The register MXCSR is ", binary(_mm_getcsr() & ~0x3fu), ", usual is ", binary(0x1f80),
                " (bit 15: flush results, bits 14 and 13: rounding, bit 6: flush operands).");
#else
  return "";
#endif
}

}  // namespace

void check_float_environment() {
  std::string faults;
  const auto note = [&faults](bool fault, const char* text) {
    if (fault) faults += concat(faults.empty() ? "" : ", ", text);
  };
  note(flushes_results<float>() || flushes_results<double>(), "flush-to-zero is on");
  note(flushes_operands<float>() || flushes_operands<double>(), "denormals-are-zero is on");
  note(!rounds_to_nearest<float>() || !rounds_to_nearest<double>(), "rounding is not to nearest");
  expect(faults.empty(), "floating-point environment: ", faults, ".", control_register(),
         " Look for a library that was built with -ffast-math or -Ofast, or for a call that sets this, and "
         "remove it.");
}

}  // namespace tinymp
