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

}  // namespace tinymp
