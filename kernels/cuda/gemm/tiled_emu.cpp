#include <kernels/cuda/gemm/tiled.cuh>  // for the CPU: kernels/emu
