#include <kernels/cuda/executor.h>
#include <kernels/device.h>
#include <kernels/emu/chip.h>
#include <kernels/emu/memory.h>
#include <tinymp/base/error.h>

namespace tinymp::kernels {
namespace {

Executor find_executor() {
  if (emu::machine::emulation_wanted()) {
    static_cast<void>(emu::machine::chip());  // a name that it does not know is refused here
    return Executor::emulation;
  }
  if (cuda_device_count() > 0) return Executor::gpu;
  throw MissingError(concat(
      "the device cuda is an NVIDIA GPU, and there is none to use: ", why_no_cuda_device(),
      "; stay on the device cpu, or set TINYMP_EMULATE=1, which runs the kernels for the GPU on the CPU, "
      "slowly"));
}

}  // namespace

Executor executor() {
  static const Executor found = find_executor();  // after an exception the next call asks again
  return found;
}

std::string executor_name() {
  if (executor() == Executor::gpu) return cuda_device_name(0);
  const emu::machine::Chip chip = emu::machine::chip();
  return concat("CUDA kernels emulated on the CPU", chip ? concat(", tensor cores of ", name_of(*chip)) : "");
}

Allocator& cuda_allocator() {
#if TINYMP_HAS_CUDA
  if (executor() == Executor::gpu) return cuda::device_memory();
#endif
  static_cast<void>(executor());
  return emu::device_memory();
}

}  // namespace tinymp::kernels
