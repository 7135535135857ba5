#include <kernels/device.h>
#include <lessons/lab/bench/executor.h>
#include <tinymp/base/error.h>

// A build without nvcc has this file in place of cuda_executor.cpp.
namespace tinymp::kernels::bench {

std::unique_ptr<Executor> real_executor() {
  throw MissingError(concat("there is no NVIDIA GPU to measure: ", why_no_cuda_device(),
                            "; TINYMP_EMULATE=1 before the command runs the kernels on the CPU"));
}

}  // namespace tinymp::kernels::bench
