#include <cuda_runtime_api.h>
#include <kernels/device.h>
#include <tinymp/base/error.h>

namespace tinymp::kernels {
namespace {

/// cudart remembers the last failure and hands it to the next call that asks; a missing GPU is no failure.
bool ok(cudaError_t status) {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status == cudaSuccess;
}

}  // namespace

int cuda_device_count() {
  int count = 0;
  return ok(cudaGetDeviceCount(&count)) ? count : 0;
}

std::string why_no_cuda_device() {
  int count = 0, driver = 0, runtime = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (ok(status) && count > 0) return {};
  if (!ok(cudaDriverGetVersion(&driver)) || driver == 0) return "no driver answers (nvidia-smi tells more)";
  if (status == cudaErrorInsufficientDriver && ok(cudaRuntimeGetVersion(&runtime))) {
    return concat("the driver is for CUDA ", driver / 1000, ".", driver % 1000 / 10,
                  ", and this build needs ", runtime / 1000, ".", runtime % 1000 / 10,
                  "; install a newer driver or build with an older toolkit");
  }
  return concat("the driver finds no GPU (", cudaGetErrorString(status),
                "; CUDA_VISIBLE_DEVICES may hide it, nvidia-smi tells more)");
}

std::string cuda_device_name(int index) {
  if (index < 0 || index >= cuda_device_count()) return {};
  cudaDeviceProp properties{};
  return ok(cudaGetDeviceProperties(&properties, index)) ? properties.name : std::string();
}

}  // namespace tinymp::kernels
