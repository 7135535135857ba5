#pragma once

#include <cstddef>
#include <cstdint>

/// Float to half and back by the processor's own instructions, 8 or 16 at a time.
namespace tinymp::f16c {

/// Whether isa() has them. Without them the functions below do nothing.
bool usable();

void half_bits_from_floats(const float* in, std::uint16_t* out, std::size_t n);
void floats_from_half_bits(const std::uint16_t* in, float* out, std::size_t n);

/// To halves and back, where they are.
void round_to_halves(float* x, std::size_t n);

}  // namespace tinymp::f16c
