#include <lessons/02_matmul/matmul.cuh>  // for the CPU: kernels/emu
