#include <kernels/cuda/check.h>
#include <kernels/cuda/executor.h>
#include <kernels/cuda/stream.h>
#include <kernels/recording.h>
#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

/// Memory of the GPU. Everything happens on one stream, in the order in which it was asked for.
namespace tinymp::kernels::cuda {
namespace {

constexpr std::size_t piece = std::size_t{1} << 20;

/// Memory of the CPU that the GPU reads by itself, so that no call waits for a copy.
struct Staging {
  void* memory = nullptr;
  cudaEvent_t copied = nullptr;
};

class DeviceMemory : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
    refuse_in_recording("memory from the system");
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      throw Error(
          concat("out of memory on the GPU: ", bytes, " bytes more were asked for; try a smaller --batch"));
    }
    check(status, "allocation of memory");
    return memory;
  }
  void release(void* memory, std::size_t) noexcept override { ignore(cudaFree(memory)); }

  /// Copies in pieces, each through the next place of a ring. It waits only when it is a whole ring ahead of the GPU.
  void copy_in(void* device, const void* host, std::size_t bytes) override {
    refuse_in_recording("a copy to the device");
    const std::lock_guard lock(mutex_);
    for (std::size_t at = 0; at < bytes; at += piece) {
      const std::size_t count = std::min(piece, bytes - at);
      const Staging& staging = ready(ring_[next_++ % ring_.size()]);
      std::memcpy(staging.memory, static_cast<const char*>(host) + at, count);
      check(cudaMemcpyAsync(static_cast<char*>(device) + at, staging.memory, count, cudaMemcpyHostToDevice,
                            on_stream()),
            "copy to the GPU");
      check(cudaEventRecord(staging.copied, on_stream()), "copy to the GPU");
    }
  }
  void copy_out(void* host, const void* device, std::size_t bytes) override {
    if (bytes == 0) return;
    refuse_in_recording("a copy from the device");
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, on_stream()), "copy from the GPU");
    check(cudaStreamSynchronize(on_stream()), "copy from the GPU");  // an earlier kernel's fault shows here
  }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on_stream()), "copy on the GPU");
    if (recording != nullptr) recording->add("copy");
  }

 private:
  static cudaStream_t on_stream() { return static_cast<cudaStream_t>(stream()); }

  static const Staging& ready(Staging& staging) {
    if (staging.memory == nullptr) {
      // The event first: memory without one would be taken for ready.
      if (staging.copied == nullptr)
        check(cudaEventCreateWithFlags(&staging.copied, cudaEventDisableTiming), "event");
      check(cudaMallocHost(&staging.memory, piece), "memory that the GPU reads");
    } else {
      check(cudaEventSynchronize(staging.copied), "copy to the GPU");
    }
    return staging;
  }

  std::mutex mutex_;
  std::array<Staging, 64> ring_;
  std::size_t next_ = 0;
};

}  // namespace

Stream stream() {
  static const cudaStream_t only = [] {
    cudaStream_t made = nullptr;
    check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "stream");
    return made;
  }();
  return only;
}

Allocator& device_memory() {
  static DeviceMemory& memory = *new DeviceMemory;  // tensors in static storage may outlive any static object
  return memory;
}

}  // namespace tinymp::kernels::cuda
