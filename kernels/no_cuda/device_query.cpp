#include <kernels/device.h>

// What a build without nvcc links instead of kernels/cuda.
namespace tinymp::kernels {

int cuda_device_count() { return 0; }

std::string why_no_cuda_device() {
  return "this build has no kernels for GPUs; they take nvcc (the CUDA toolkit, 12.0 or newer) and a build "
         "with "
         "TINYMP_CUDA=ON";
}

std::string cuda_device_name(int) { return {}; }

}  // namespace tinymp::kernels
