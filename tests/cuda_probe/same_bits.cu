#include <cuda_runtime_api.h>
#include <kernels/device.h>
#include <kernels/formulas/clip.h>
#include <kernels/formulas/norm.h>
#include <kernels/formulas/optimizers.h>
#include <kernels/formulas/softmax.h>
#include <kernels/formulas/unary.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/half.h>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <vector>

// The formulas are one text for CPU and GPU. That this file compiles shows that nvcc accepts them; where
// there is a GPU, every one must give the bits there that it gives on the CPU.
namespace tinymp {
namespace {

constexpr int results = 32;

/// Bits to compare; all NaN are one.
template <class T>
TINYMP_HD std::uint64_t bits(T x) {
  if (x != x) return 0x7ff8'0000'0000'0000;
  if constexpr (sizeof(T) == 8) return std::bit_cast<std::uint64_t>(x);
  if constexpr (sizeof(T) == 4) return std::bit_cast<std::uint32_t>(x);
}

struct Recorder {
  std::uint64_t* out;
  int used = 0;

  template <class T>
  TINYMP_HD void operator()(T x) {
    out[used++] = bits(x);
  }
};

template <class T>
TINYMP_HD void elementary(T x, T y, Recorder& record) {
  record(tinymp::exp(x));
  record(tinymp::log(x));
  record(tinymp::tanh(x));
  record(tinymp::sigmoid(x));
  record(kernels::Relu::forward(x));
  record(kernels::Relu::backward(x, y));
  record(kernels::Sigmoid::backward(kernels::Sigmoid::forward(x), y));
  record(kernels::Tanh::backward(kernels::Tanh::forward(x), y));
}

TINYMP_HD void evaluate(float x, float y, std::uint64_t* out) {
  Recorder record{out};
  elementary(x, y, record);
  elementary(static_cast<double>(x), static_cast<double>(y), record);

  const half a(x), b(y);
  record(float(a));
  record(float(a + b));
  record(float(a - b));
  record(float(a * b));
  record(float(a / b));

  float m[2] = {0.25f * y, y * y};
  kernels::StepState state{.steps = 7, .lr = 1e-3f};
  const kernels::SgdRule<true> sgd{.momentum = 0.9f, .weight_decay = 1e-4f};
  sgd.moments(x, y, m);
  record(sgd.update(x, y, m, state));
  const auto adam = kernels::adam_rule<false>(0.9, 0.999, 1e-8f, 0.01f);
  adam.begin(state);
  record(state.correction1);
  record(state.correction2);
  adam.moments(x, y, m);
  record(m[0]);
  record(m[1]);
  record(adam.update(x, y, m, state));
  const kernels::AdagradRule adagrad{.epsilon = 1e-10f, .weight_decay = 0};
  adagrad.moments(x, y, m);
  record(m[0]);
  record(adagrad.update(x, y, m, state));
  float factor = x;
  record(kernels::clip_factor(static_cast<double>(y) * y, 0.5f, factor));
  record(factor);
  while (record.used < results) record(0.0f);
}

__global__ void evaluate_all(const float* x, const float* y, std::int64_t n, std::uint64_t* out) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(blockDim.x) + threadIdx.x;
  if (i < n) evaluate(x[i], y[i], out + i * results);
}

/// Any pattern of bits is as likely as any other: NaN, infinities, subnormals and huge numbers are among
/// them. Every second pair is of ordinary size.
std::vector<float> numbers(std::int64_t n, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto pattern = static_cast<std::uint32_t>(rng.next_u64() >> 32);
    x[i] = i % 2 == 0 ? std::bit_cast<float>(pattern) : rng.uniform(-20.0f, 20.0f);
  }
  return x;
}

template <class T>
struct DeviceArray {
  T* data = nullptr;
  explicit DeviceArray(std::size_t n) {
    if (cudaMalloc(&data, n * sizeof(T)) != cudaSuccess) data = nullptr;
  }
  ~DeviceArray() { cudaFree(data); }
};

int run() {
  if (kernels::cuda_device_count() == 0) {
    std::puts("[skipped] there is no GPU on this machine");
    return 0;
  }
  constexpr std::int64_t n = 1 << 20;
  const std::vector<float> x = numbers(n, 1), y = numbers(n, 2);
  std::vector<std::uint64_t> expected(n * results), found(n * results);
  for (std::int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<std::size_t>(i);
    evaluate(x[at], y[at], expected.data() + i * results);
  }

  const DeviceArray<float> device_x(x.size()), device_y(y.size());
  const DeviceArray<std::uint64_t> device_out(found.size());
  cudaMemcpy(device_x.data, x.data(), x.size() * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(device_y.data, y.data(), y.size() * sizeof(float), cudaMemcpyHostToDevice);
  evaluate_all<<<static_cast<unsigned>((n + 255) / 256), 256>>>(device_x.data, device_y.data, n,
                                                                device_out.data);
  cudaMemcpy(found.data(), device_out.data, found.size() * sizeof(std::uint64_t), cudaMemcpyDeviceToHost);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess) {
    std::printf("%s: %s\n", kernels::cuda_device_name(0).c_str(), cudaGetErrorString(status));
    return 1;
  }

  std::int64_t mismatches = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    if (++mismatches <= 10) {
      std::printf("result %zu of x = %a, y = %a: CPU %016llx, GPU %016llx\n", i % results, x[i / results],
                  y[i / results], static_cast<unsigned long long>(expected[i]),
                  static_cast<unsigned long long>(found[i]));
    }
  }
  std::printf("%s: %lld of %zu results differ from the CPU\n", kernels::cuda_device_name(0).c_str(),
              static_cast<long long>(mismatches), found.size());
  return mismatches == 0 ? 0 : 1;
}

}  // namespace
}  // namespace tinymp

int main() { return tinymp::run(); }
