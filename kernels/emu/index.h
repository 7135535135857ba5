#pragma once

/// threadIdx, blockIdx, blockDim, gridDim: plain variables of the OS thread. The machine sets them each time
/// it goes on with another CUDA thread (block.cpp), so a kernel reads them as on a GPU.
namespace tinymp::kernels::emu {

struct uint3 {
  unsigned x, y, z;
};

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
  constexpr unsigned long long count() const { return 1ull * x * y * z; }
};

constinit inline thread_local uint3 threadIdx{0, 0, 0};
constinit inline thread_local uint3 blockIdx{0, 0, 0};
constinit inline thread_local dim3 blockDim{};
constinit inline thread_local dim3 gridDim{};
inline constexpr int warpSize = 32;

}  // namespace tinymp::kernels::emu
