#pragma once

#include <kernels/kernels.h>

/// What runs kernels. Device::cuda has two executors: the GPU and, on machines without one, its emulation,
/// which compiles the same files for the CPU (kernels/emu).
namespace tinymp::kernels {

namespace cuda {
#include <kernels/functions.inc>
}
namespace emu {
#include <kernels/functions.inc>
}

}  // namespace tinymp::kernels
