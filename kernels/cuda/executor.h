#pragma once

#include <tinymp/base/device.h>
#include <cstdint>
#include <string>

namespace tinymp::kernels {

/// What runs the kernels of Device::cuda.
enum class Executor : std::uint8_t { gpu, emulation };

/// TINYMP_EMULATE is set, to anything but 0.
bool emulation_wanted();

/// The emulation where that is wanted, else the GPU. Asked once: a program stays
/// with what it found first. Throws MissingError when there is neither.
Executor executor();

/// "NVIDIA H200", or "CUDA kernels emulated on the CPU".
std::string executor_name();

/// Memory of the executor.
Allocator& cuda_allocator();

namespace cuda {
Allocator& device_memory();
}

}  // namespace tinymp::kernels
