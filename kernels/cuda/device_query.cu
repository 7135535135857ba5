#include <cuda_runtime_api.h>
#include <kernels/device.h>

namespace tinymp::kernels {
namespace {

/// cudart remembers the last failure and hands it to whoever asks next; a missing GPU is nobody's failure.
bool ok(cudaError_t status) {
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status == cudaSuccess;
}

}  // namespace

int cuda_device_count() {
  int count = 0;
  return ok(cudaGetDeviceCount(&count)) ? count : 0;
}

std::string cuda_device_name(int index) {
  if (index < 0 || index >= cuda_device_count()) return {};
  cudaDeviceProp properties{};
  return ok(cudaGetDeviceProperties(&properties, index)) ? properties.name : std::string();
}

}  // namespace tinymp::kernels
