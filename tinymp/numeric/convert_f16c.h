#pragma once

#include <cstddef>
#include <cstdint>

/// Float to half and back with the instructions of the processor, 8 or 16 values at a time.
namespace tinymp::f16c {

/// True when isa() has the instructions. Otherwise the functions below do nothing.
bool usable();

void half_bits_from_floats(const float* in, std::uint16_t* out, std::size_t n);
void floats_from_half_bits(const std::uint16_t* in, float* out, std::size_t n);

/// Rounds to halves and back to float, in place.
void round_to_halves(float* x, std::size_t n);

}  // namespace tinymp::f16c
