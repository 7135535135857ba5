#include <bit>
#include <concepts>
#include <cstdint>

template <class T>
concept Number = std::integral<T> || std::floating_point<T>;

template <Number T>
__global__ void twice(T* x) {
  *x = std::bit_cast<T>(std::bit_cast<std::uint32_t>(*x)) * T(2);
}

int launch() {
  float* x = nullptr;
  if (cudaMalloc(&x, sizeof(float)) != cudaSuccess) return 1;
  twice<<<1, 1>>>(x);
  return cudaFree(x) == cudaSuccess ? 0 : 1;
}
