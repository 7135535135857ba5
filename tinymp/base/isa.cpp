#include <tinymp/base/error.h>
#include <tinymp/base/isa.h>
#include <cstdlib>
#include <string_view>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tinymp {
namespace {

Isa widest() {
#if defined(__x86_64__)
  // __builtin_cpu_supports also checks which registers the operating system saves. clang++ 14 does not accept
  // "f16c" there; F16C uses the registers of AVX2.
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
  if (!f16c || !__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) return Isa::portable;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq"))
    return Isa::avx512;
  return Isa::avx2;
#else
  return Isa::portable;
#endif
}

Isa chosen() {
  const char* wish = std::getenv("TINYMP_ISA");
  const std::string_view name = wish == nullptr ? "" : wish;
  if (name == "") return widest();
  for (const Isa set : {Isa::portable, Isa::avx2, Isa::avx512}) {
    constexpr std::string_view names[] = {"portable", "avx2", "avx512"};
    if (name != names[static_cast<int>(set)]) continue;
    if (set <= widest()) return set;
    throw MissingError(concat("TINYMP_ISA asks for ", name, ", which this processor cannot run: unset it"));
  }
  throw UsageError(concat("TINYMP_ISA is '", name, "': set it to portable, avx2 or avx512, or unset it"));
}

}  // namespace

Isa isa() {
  static const Isa set = chosen();
  return set;
}

}  // namespace tinymp
