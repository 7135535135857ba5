#pragma once

#include <kernels/compute_type.h>
#include <kernels/cuda/cuda.h>
#include <kernels/executors.h>
#include <tinymp/numeric/convert.h>
#include <tinymp/tensor/storage.h>
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

/// What the kernels beside the GEMM ladder share: how they see a tensor, and how a grid covers one.
namespace tinymp::kernels::TINYMP_EXECUTOR {

/// A number of 16 bits as CUDA names it, which has instructions to convert that; any other type as it is.
template <class T>
struct Native {
  using type = T;
};
template <>
struct Native<half> {
  using type = __half;
};
template <>
struct Native<bfloat16> {
  using type = __nv_bfloat16;
};

/// converted<To>(x) with its bits, by an instruction of the GPU where there is one. CUDA's NaN is another.
template <class To, class From>
__device__ inline To device_converted(From x) {
  using Wide = typename Native<From>::type;
  using Narrow = typename Native<To>::type;
  if constexpr (std::is_same_v<To, float> && sizeof(From) == 2) {
    const float wide = static_cast<float>(std::bit_cast<Wide>(x));
    return wide == wide ? wide : std::numeric_limits<float>::quiet_NaN();
  } else if constexpr (std::is_same_v<From, float> && sizeof(To) == 2) {
    return x == x ? std::bit_cast<To>(static_cast<Narrow>(x)) : std::numeric_limits<To>::quiet_NaN();
  } else {
    return converted<To>(x);
  }
}

/// A tensor inside a kernel. Its format is looked up at each access, by a branch that all threads of a launch
/// take alike: one kernel serves every format. Kernels that memory bounds take packs (packs.h).
struct Values {
  void* memory;
  DType dtype;

  template <class T>
  __device__ T* as() const {
    return static_cast<T*>(memory);
  }

  template <class C>
  __device__ C get(std::int64_t i) const {
    return visit_dtype(dtype, [&]<class T> { return device_converted<C>(as<T>()[i]); });
  }

  /// Rounded once.
  template <class C>
  __device__ void set(std::int64_t i, C x) const {
    visit_dtype(dtype, [&]<class T> { as<T>()[i] = device_converted<T>(x); });
  }

  /// x as it will be when it is read again.
  __device__ float rounded(float x) const {
    return visit_dtype(dtype, [&]<class T> { return device_converted<float>(device_converted<T>(x)); });
  }
};

/// Values begin, begin + 1, ... of x.
template <class C>
struct Row {
  Values x;
  std::int64_t begin;
  __device__ C operator[](std::int64_t i) const { return x.get<C>(begin + i); }
};

inline Values values(const View& x) { return {x.memory, x.dtype}; }

// A thread works on elements first(), first() + stride(), ...: a grid of any size covers any tensor.
__device__ inline std::int64_t first() {
  return std::int64_t{blockIdx.x} * blockDim.x + static_cast<std::int64_t>(threadIdx.x);
}
__device__ inline std::int64_t stride() { return std::int64_t{gridDim.x} * blockDim.x; }

inline constexpr unsigned block_threads = 256;

inline unsigned blocks_for(std::int64_t elements, std::int64_t for_each_thread = 1) {
  constexpr std::int64_t enough = 4096;  // fills the largest GPU several times
  const std::int64_t of_a_block = block_threads * for_each_thread;
  return static_cast<unsigned>(std::min((elements + of_a_block - 1) / of_a_block, enough));
}

/// Memory that a function needs while its kernels run. They run in the order of their launches, so the pool
/// may hand it to the next as soon as this ends.
template <class T>
class Scratch {
 public:
  explicit Scratch(std::int64_t count)
      : storage_(static_cast<std::size_t>(count) * sizeof(T), Device::cuda, MemoryKind::scratch) {}
  T* data() const { return reinterpret_cast<T*>(storage_.data()); }

 private:
  Storage storage_;
};

}  // namespace tinymp::kernels::TINYMP_EXECUTOR
