#include <lessons/02_matmul/matmul.cuh>  // for the GPU: nvcc compiles it
