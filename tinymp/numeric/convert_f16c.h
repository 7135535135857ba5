#pragma once

#include <cstddef>
#include <cstdint>

/// Float to half and back by the F16C instructions, eight at a time. The file behind this is compiled for
/// machines that have them: call it only when convert.cpp has asked the machine.
namespace tinymp::f16c {

/// False in builds for other processors, where the two functions do nothing.
extern const bool compiled;

/// Whether processor and operating system have them: asked of the machine, the codec does not matter.
bool machine_has();

void half_bits_from_floats(const float* in, std::uint16_t* out, std::size_t n);
void floats_from_half_bits(const std::uint16_t* in, float* out, std::size_t n);

}  // namespace tinymp::f16c
