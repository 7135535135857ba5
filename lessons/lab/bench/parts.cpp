#include <lessons/lab/bench/parts.h>
#include <array>

namespace tinymp::lab::gpu_check {
namespace {

constexpr std::array<Part, 7> all = {{
    {"kernels", "Every kernel against its oracle", check_kernels},
    {"sanitizer", "Kernels under compute-sanitizer", check_sanitizer},
    {"bits", "Tensor cores against the simulator, bit for bit", check_bits},
    {"gemm", "The GEMM ladder beside cuBLAS", check_gemm},
    {"memory", "Kernels that only move data, beside a copy", check_memory},
    {"lessons", "Each lesson on the GPU and on the CPU", check_lessons},
    {"speed", "FP16 beside FP32, in training steps a second", check_speed},
}};

}  // namespace

std::span<const Part> parts() { return all; }

}  // namespace tinymp::lab::gpu_check
