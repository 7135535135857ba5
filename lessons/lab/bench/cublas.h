#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <string>

namespace tinymp::kernels::bench {

/// NVIDIA's own matrix product, the yardstick. The library is looked for when the program runs: it need not
/// be there, neither then nor when tinymp is built.
class Cublas {
 public:
  Cublas();
  ~Cublas();
  Cublas(const Cublas&) = delete;

  /// Empty when it can be used.
  const std::string& why_not() const { return why_not_; }
  std::string version() const;
  /// On the default stream; does not wait. FP32 operands are multiplied as such, not as TF32. Throws Error.
  void gemm(const GemmProblem& problem);

 private:
  void* library_ = nullptr;
  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace tinymp::kernels::bench
