#pragma once

/// The arithmetic that this library is written for: IEEE 754, nearest even, subnormals kept.
namespace tinymp {

/// Programs call this once at the start, before any other work. Flush-to-zero would make the subnormals
/// vanish that half of the lessons are about, and another rounding would change every result.
/// @throws Error when the calling thread flushes subnormals to zero, reads them as zero, or does not round to
///         nearest; a library built with -ffast-math turns these on for the whole program as it is loaded.
void check_float_environment();

}  // namespace tinymp
