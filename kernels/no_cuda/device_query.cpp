#include <kernels/device.h>

// What a build without nvcc links instead of kernels/cuda.
namespace tinymp::kernels {

int cuda_device_count() { return 0; }

std::string cuda_device_name(int) { return {}; }

}  // namespace tinymp::kernels
