#include <kernels/bench/executor.h>
#include <tinymp/base/error.h>

// What a build without nvcc has in place of cuda_executor.cpp.
namespace tinymp::kernels::bench {

std::unique_ptr<Executor> real_executor() {
  throw MissingError(
      "this build has no CUDA kernels: they take the CUDA toolkit, 12.0 or newer, and a build with "
      "TINYMP_CUDA=ON; without a GPU, TINYMP_EMULATE=1 before the command runs them on the CPU");
}

}  // namespace tinymp::kernels::bench
