#pragma once

#include <tinymp/base/device.h>
#include <string>

namespace tinymp::kernels::emu {

/// Memory of the emulated GPU. It starts as bytes 0xff, which are NaN as FP16, BF16 and FP32, and lies
/// between guards. AddressSanitizer names an access to a guard. Without it, the first launch after a guard
/// has changed throws.
Allocator& device_memory();

namespace machine {
/// Throws Error, naming `kernel`, when a guard has changed; once for each damage.
void check_guards(const std::string& kernel);
}  // namespace machine

}  // namespace tinymp::kernels::emu
