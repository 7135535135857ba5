#pragma once

#include <kernels/cuda/gemm/ladder.h>
#include <array>
#include <memory>
#include <string>

/// NVIDIA's own matrix products. Their libraries are loaded when the program runs. They may be missing then, and also
/// when tinymp is built.
namespace tinymp::kernels::bench {

enum class Yardstick { cublas, cublas_lt };
inline constexpr std::array yardsticks{Yardstick::cublas, Yardstick::cublas_lt};
constexpr const char* name_of(Yardstick y) { return y == Yardstick::cublas ? "cuBLAS" : "cuBLASLt"; }

class YardstickLibrary {
 public:
  virtual ~YardstickLibrary() = default;
  /// Empty when it can be used.
  virtual std::string why_not() const = 0;
  virtual std::string version() const = 0;
  /// Runs on the default stream and does not wait. FP32 operands are multiplied in FP32, not in TF32. Throws Error.
  virtual void gemm(const GemmProblem& problem) = 0;
};

/// cublasGemmEx, with the algorithm that the library takes by itself.
std::unique_ptr<YardstickLibrary> open_cublas();
/// cublasLtMatmul, with the first algorithm of its heuristic and 32 MiB to work in.
std::unique_ptr<YardstickLibrary> open_cublas_lt();

/// Throws Error for formats that neither of them takes.
void expect_known_to_cublas(const GemmProblem& problem);

}  // namespace tinymp::kernels::bench
