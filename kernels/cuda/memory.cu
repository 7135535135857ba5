#include <kernels/cuda/cuda.h>
#include <kernels/cuda/executor.h>
#include <array>
#include <bit>
#include <cstring>
#include <mutex>

/// Memory of the GPU. Everything happens on one stream, in the order in which it was asked for.
namespace tinymp::kernels::cuda {
namespace {

/// Memory of the CPU that the GPU reads by itself, so that nobody waits for a copy.
struct Staging {
  void* memory = nullptr;
  std::size_t bytes = 0;
  cudaEvent_t copied = nullptr;
};

class DeviceMemory : public Allocator {
 public:
  void* allocate(std::size_t bytes) override {
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
  void release(void* memory, std::size_t) noexcept override { static_cast<void>(cudaFree(memory)); }

  void copy_in(void* device, const void* host, std::size_t bytes) override {
    if (bytes == 0) return;
    const std::lock_guard lock(mutex_);
    Staging& staging = ring_[next_++ % ring_.size()];
    make_ready(staging, bytes);
    std::memcpy(staging.memory, host, bytes);
    check(cudaMemcpyAsync(device, staging.memory, bytes, cudaMemcpyHostToDevice, on_stream()),
          "copy to the GPU");
    check(cudaEventRecord(staging.copied, on_stream()), "copy to the GPU");
  }
  void copy_out(void* host, const void* device, std::size_t bytes) override {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, on_stream()), "copy from the GPU");
    check(cudaStreamSynchronize(on_stream()), "copy from the GPU");  // an earlier kernel's fault shows here
  }
  void copy_within(void* to, const void* from, std::size_t bytes) override {
    if (bytes == 0) return;
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, on_stream()), "copy on the GPU");
  }

 private:
  static cudaStream_t on_stream() { return static_cast<cudaStream_t>(stream()); }

  /// The copy that last used it lies a whole ring back: it is over, but for a GPU that is far behind.
  static void make_ready(Staging& staging, std::size_t bytes) {
    if (staging.copied == nullptr) {
      check(cudaEventCreateWithFlags(&staging.copied, cudaEventDisableTiming), "event");
    } else {
      check(cudaEventSynchronize(staging.copied), "copy to the GPU");
    }
    if (staging.bytes >= bytes) return;
    if (staging.memory != nullptr) check(cudaFreeHost(staging.memory), "staging memory");
    staging = {.copied = staging.copied};
    const std::size_t size = std::bit_ceil(bytes);
    check(cudaMallocHost(&staging.memory, size), "staging memory");
    staging.bytes = size;
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
