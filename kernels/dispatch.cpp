#include <kernels/cuda/executor.h>
#include <kernels/executors.h>
#include <kernels/float8_operands.h>
#include <kernels/profile.h>
#include <tinymp/base/error.h>
#include <algorithm>

/// The only switch on the device.
namespace tinymp::kernels {
namespace {

const bool registered = (register_device(Device::cuda, cuda_allocator), true);

/// Where a kernel runs: with its first view or cell, and so with all of them.
template <class First, class... Rest>
Device device_of(const First& first, const Rest&... rest) {
  if constexpr (requires { first.device; }) {
    return first.device;
  } else {
    return device_of(rest...);
  }
}

template <std::size_t n>
struct Name {
  char text[n];
  constexpr Name(const char (&name)[n]) { std::copy_n(name, n, text); }
};

template <Name name, auto on_cpu, auto emulated, auto on_gpu>
struct Kernel;

/// One kernel with its arguments, which are those of all three functions.
template <Name name, class... Arguments, void (*on_cpu)(Arguments...), void (*emulated)(Arguments...),
          void (*on_gpu)(Arguments...)>
struct Kernel<name, on_cpu, emulated, on_gpu> {
  static void run(Arguments... arguments) {
    const detail::TimedCall timed(name.text, arguments...);
    detail::expect_formats(name.text, arguments...);
    const Device device = device_of(arguments...);
    if (device == Device::cpu) return on_cpu(arguments...);
    if (device == Device::meta) return;  // no values, no work
    const auto function = executor() == Executor::gpu ? on_gpu : emulated;
    if (function == nullptr)
      throw MissingError("this build has no kernels for it");  // executor() has said so
    function(arguments...);
  }
};

// A build without them does not link them.
#if TINYMP_HAS_EMULATION
#define TINYMP_EMULATED(name) emu::name
#else
#define TINYMP_EMULATED(name) static_cast<decltype(&cpu::name)>(nullptr)
#endif
#if TINYMP_HAS_CUDA
#define TINYMP_ON_GPU(name) cuda::name
#else
#define TINYMP_ON_GPU(name) static_cast<decltype(&cpu::name)>(nullptr)
#endif

}  // namespace

#define TINYMP_KERNEL(name) \
  decltype(cpu::name)& name = Kernel<#name, cpu::name, TINYMP_EMULATED(name), TINYMP_ON_GPU(name)>::run;
TINYMP_KERNELS(TINYMP_KERNEL)

}  // namespace tinymp::kernels
