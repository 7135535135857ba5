#pragma once

/// Which instructions this run may use. The fast loops are one text, compiled once for each of these sets,
/// and give the same bits under all of them: which one runs is a matter of speed alone.
namespace tinymp {

/// In the order of their width; each has all instructions of the ones before it.
enum class Isa {
  portable,  ///< what the compiler assumes of every processor
  avx2,      ///< AVX2, FMA3 and F16C
  avx512,    ///< and AVX-512 F, VL, BW and DQ
};

/// The widest set that this processor has; TINYMP_ISA=portable|avx2|avx512 asks for a narrower one. Looked up
/// once. Throws UsageError for another name, MissingError when the processor lacks the one that was asked
/// for.
Isa isa();

// Loops that are written once and compiled for each instruction set.
// --------------------------------------------------------------

// Before a loop none of whose rounds reads what another one writes. Where arrays may overlap a compiler has
// to assume the opposite, and does one value at a time.
#if defined(__clang__)
#define TINYMP_INDEPENDENT_ROUNDS _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define TINYMP_INDEPENDENT_ROUNDS _Pragma("GCC ivdep")
#else
#define TINYMP_INDEPENDENT_ROUNDS
#endif

// For what a loop calls, where the compiler might think it too long: only inline it gets the wide registers.
#if defined(__GNUC__)
#define TINYMP_INLINE __attribute__((always_inline)) inline
#else
#define TINYMP_INLINE inline
#endif

#if defined(__x86_64__)
// With FMA, but -ffp-contract=off holds here as everywhere: nothing is fused that the text does not fuse.
#define TINYMP_AVX2 __attribute__((target("avx2,fma,f16c")))
#define TINYMP_AVX512 __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq,avx2,fma,f16c")))
#endif

namespace detail {
// `flatten` brings the text of f and of what it calls in here, where the wider registers are; whatever the
// compiler leaves outside is compiled for every processor. `static`: no other file may run these copies.
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

/// f(), with the instructions of isa(). For a loop and the arithmetic in it, all of it inline. Captures by
/// value ([=]): what is captured by reference the compiler reads again in each round.
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
