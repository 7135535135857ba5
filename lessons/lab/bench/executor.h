#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <kernels/cuda/gemm/tensor_tiles.h>
#include <lessons/lab/bench/yardstick.h>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

/// The interface between a measurement and a GPU, a real or an emulated one.
namespace tinymp::kernels::bench {

/// The facts about a GPU for a report. 0 and "" mean unknown.
struct Machine {
  std::string name{};          ///< "NVIDIA H200", "emulated a100"
  bool emulated = false;       ///< the times then mean nothing
  int architecture = 0;        ///< 90 is sm_90
  bool float8 = true;          ///< false: this code has no mma.sync for FP8, whatever the architecture
  std::string driver{};        ///< the newest CUDA version that the driver supports: "13.0"
  std::string runtime{};       ///< the CUDA version of this build
  int multiprocessors = 0;     ///< SMs
  double clock = 0;            ///< the highest clock of the SMs, in Hz
  std::size_t l2_bytes = 0;    ///< bytes of the L2 cache
  std::size_t free_bytes = 0;  ///< bytes of free memory
  int float_to_double = 0;     ///< how many times as fast FP32 is as FP64
};

class Executor {
 public:
  virtual ~Executor() = default;
  virtual Machine machine() const = 0;

  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  virtual void upload(void* to, const void* from, std::size_t bytes) = 0;
  virtual void download(void* to, const void* from, std::size_t bytes) = 0;
  virtual void fill(void* to, int byte, std::size_t bytes) = 0;

  /// gemm() of ladder.h. Does not wait.
  virtual Rung gemm(Rung wanted, const GemmProblem& problem) = 0;
  virtual void tiles(const TileBatch& tiles) = 0;  ///< tensor_tiles(), of this chip
  /// NVIDIA's own product, beside which the ladder is measured.
  virtual YardstickLibrary& library(Yardstick which) = 0;

  /// The time that the GPU takes for the work that `work` starts. Waits for its end.
  virtual double milliseconds(const std::function<void()>& work) = 0;
  /// Seconds of one replay of a graph that holds `launch` so many times; 0 where there are no graphs. `launch` launches
  /// kernels of Device::cuda and does nothing else.
  virtual double graph_seconds(const std::function<void()>& /*launch*/, int /*nodes*/) { return 0; }
};

std::unique_ptr<Executor> emulated_executor();
/// The first GPU of this machine. Throws MissingError when there is none, or when the build has no CUDA.
std::unique_ptr<Executor> real_executor();

/// Emulated when TINYMP_EMULATE says so (kernels/emu/chip.h), else real.
std::unique_ptr<Executor> executor();

/// Owns memory of an executor.
class Memory {
 public:
  Memory(Executor& executor, std::size_t bytes) : executor_(&executor), data_(executor.allocate(bytes)) {}
  ~Memory() {
    if (data_ != nullptr) executor_->release(data_);
  }
  Memory(Memory&& other) noexcept : executor_(other.executor_), data_(std::exchange(other.data_, nullptr)) {}
  Memory& operator=(Memory&&) = delete;
  void* data() const { return data_; }

 private:
  Executor* executor_;
  void* data_;
};

}  // namespace tinymp::kernels::bench
