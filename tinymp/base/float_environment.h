#pragma once

/// Checks the arithmetic that this library needs: IEEE 754, rounding to nearest even, with subnormals.
namespace tinymp {

/// Programs call this once at the start, before any other work. Flush-to-zero would remove the subnormals,
/// the subject of half of the lessons, and another rounding would change every result.
/// @throws Error when the calling thread flushes subnormals to zero, reads them as zero, or does not round to
///         nearest; a library built with -ffast-math turns these on for the whole program as it is loaded.
void check_float_environment();

}  // namespace tinymp
