#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <string>

namespace tinymp::kernels::bench {

/// NVIDIA's own matrix product, the yardstick. The library is loaded when the program runs. It may be missing
/// then, and also when tinymp is built.
class Cublas {
 public:
  Cublas();
  ~Cublas();
  Cublas(const Cublas&) = delete;

  /// Empty when it can be used.
  const std::string& why_not() const { return why_not_; }
  std::string version() const;
  /// Runs on the default stream and does not wait. FP32 operands are multiplied in FP32, not in TF32. Throws
  /// Error.
  void gemm(const GemmProblem& problem);

 private:
  void* library_ = nullptr;
  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace tinymp::kernels::bench
