#pragma once

#include <string>

namespace tinymp::kernels::bench {

/// The matrix product that most programs call, as a yardstick. It is loaded when the program runs: from the
/// file TINYMP_OPENBLAS if that is set, else where the loader finds it.
class OpenBlas {
 public:
  explicit OpenBlas(int threads);
  OpenBlas(const OpenBlas&) = delete;

  /// Empty when it can be used.
  const std::string& why_not() const { return why_not_; }
  std::string version() const { return version_; }  ///< "0.3.21"
  std::string core() const { return core_; }        ///< the processor that its kernels are for: "SkylakeX"
  int threads() const { return threads_; }          ///< threads that it reports

  /// c:(M,N) = op(a) . op(b). All matrices are row-major without gaps.
  void sgemm(bool ta, bool tb, int M, int N, int K, const float* a, const float* b, float* c) const;

 private:
  using Sgemm = void (*)(int order, int ta, int tb, int M, int N, int K, float alpha, const float* a, int lda,
                         const float* b, int ldb, float beta, float* c, int ldc);
  Sgemm sgemm_ = nullptr;
  std::string why_not_, version_, core_;
  int threads_ = 0;
};

}  // namespace tinymp::kernels::bench
