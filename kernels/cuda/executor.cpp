#include <kernels/cuda/executor.h>
#include <kernels/device.h>
#if TINYMP_HAS_EMULATION
#include <kernels/emu/chip.h>
#include <kernels/emu/memory.h>
#endif
#include <tinymp/base/error.h>
#include <cstdlib>
#include <string_view>

namespace tinymp::kernels {
namespace {

Executor find_executor() {
  if (emulation_wanted()) {
#if TINYMP_HAS_EMULATION
    static_cast<void>(emu::machine::chip());  // a name that it does not know is refused here
    return Executor::emulation;
#else
    throw MissingError(
        "TINYMP_EMULATE is set, and this build has no emulation of the GPU; ./learn builds it where that is "
        "set, CMake with -DTINYMP_EMULATION=ON");
#endif
  }
  if (cuda_device_count() > 0) return Executor::gpu;
  throw MissingError(concat(
      "the device cuda is an NVIDIA GPU, and there is none to use: ", why_no_cuda_device(),
      "; stay on the device cpu, or set TINYMP_EMULATE=1, which runs the kernels for the GPU on the CPU, "
      "slowly"));
}

}  // namespace

bool emulation_wanted() {
  const char* emulate = std::getenv("TINYMP_EMULATE");
  return emulate != nullptr && *emulate != '\0' && std::string_view(emulate) != "0";
}

Executor executor() {
  static const Executor found = find_executor();  // after an exception the next call asks again
  return found;
}

std::string executor_name() {
  if (executor() == Executor::gpu) return cuda_device_name(0);
#if TINYMP_HAS_EMULATION
  if (const emu::machine::Chip chip = emu::machine::chip())
    return concat("CUDA kernels emulated on the CPU, tensor cores of ", name_of(*chip));
#endif
  return "CUDA kernels emulated on the CPU";
}

Allocator& cuda_allocator() {
  [[maybe_unused]] const Executor found = executor();  // throws where there is none
#if TINYMP_HAS_CUDA
  if (found == Executor::gpu) return cuda::device_memory();
#endif
#if TINYMP_HAS_EMULATION
  return emu::device_memory();
#else
  throw Error("cuda_allocator: an executor without memory");
#endif
}

}  // namespace tinymp::kernels
