#pragma once

#include <string>

/// What GPUs there are. None of these throws or prints: a build without CUDA, a machine without a driver
/// and a driver that is too old all mean that there is none.
namespace tinymp::kernels {

int cuda_device_count();

/// Why there is none, for a message: "no NVIDIA GPU answers (...)". Empty when there is one.
std::string why_no_cuda_device();

/// "NVIDIA H200"; empty when there is no such device. The first is 0.
std::string cuda_device_name(int index);

}  // namespace tinymp::kernels
