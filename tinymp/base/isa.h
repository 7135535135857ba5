#pragma once

/// The instruction sets that a run may use. The fast loops are one text, compiled once for each set. They
/// give the same bits under all sets, so the choice changes the speed alone.
namespace tinymp {

/// In the order of their width; each has all instructions of the ones before it.
enum class Isa {
  portable,  ///< the instructions that every processor has
  avx2,      ///< AVX2, FMA3 and F16C
  avx512,    ///< and AVX-512 F, VL, BW and DQ
};

/// Returns the widest set of this processor; TINYMP_ISA=portable|avx2|avx512 selects a narrower one. It looks
/// once. Throws UsageError for another name, MissingError when the processor lacks the selected set.
Isa isa();

// Loops that are written once and compiled for each instruction set.
// --------------------------------------------------------------

// Put it before a loop in which no round reads what another round writes. When arrays may overlap, the
// compiler must assume the opposite, and computes one value at a time.
#if defined(__clang__)
#define TINYMP_INDEPENDENT_ROUNDS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TINYMP_INDEPENDENT_ROUNDS _Pragma("GCC ivdep")
#else
#define TINYMP_INDEPENDENT_ROUNDS
#endif

// For functions that a loop calls and the compiler might not inline. Only
// inlined code gets the wide registers.
#if defined(__GNUC__)
#define TINYMP_INLINE __attribute__((always_inline)) inline
#else
#define TINYMP_INLINE inline
#endif

#if defined(__x86_64__)
// These include FMA, but -ffp-contract=off holds here too: the compiler fuses nothing by itself.
#define TINYMP_AVX2 __attribute__((target("avx2,fma,f16c")))
#define TINYMP_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c")))
#endif

namespace detail {
// `flatten` inlines f and what f calls, so that they get the wider registers. Code that is not inlined is
// compiled for every processor. `static` keeps these copies out of other translation units.
template <class F>
static void on_portable(F f) {
  f();
}
#if defined(__x86_64__)
template <class F>
TINYMP_AVX2 __attribute__((flatten, noinline)) static void on_avx2(F f) {
  f();
}
template <class F>
TINYMP_AVX512 __attribute__((flatten, noinline)) static void on_avx512(F f) {
  f();
}
#endif
}  // namespace detail

/// Calls f() with the instructions of isa(). f is a loop with its arithmetic, all of it inline. Let f capture
/// by value ([=]): the compiler reads a capture by reference again in each round.
template <class F>
void on_best_isa(const F& f) {
#if defined(__x86_64__)
  switch (isa()) {
    case Isa::avx512:
      return detail::on_avx512(f);
    case Isa::avx2:
      return detail::on_avx2(f);
    case Isa::portable:
      break;
  }
#endif
  detail::on_portable(f);
}

}  // namespace tinymp
