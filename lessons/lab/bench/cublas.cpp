#include <lessons/lab/bench/cuda_blas.h>
#include <lessons/lab/bench/yardstick.h>

namespace tinymp::kernels::bench {
namespace {

constexpr int any_algorithm = -1;
using Create = int (*)(void** handle);
using Destroy = int (*)(void* handle);
using GetVersion = int (*)(void* handle, int* version);
using GemmEx = int (*)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                       const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
                       const void* beta, void* c, int c_type, int ldc, int compute, int algorithm);

class Cublas : public YardstickLibrary {
 public:
  Cublas() : library_(open_cuda_library("cublas")) {
    if (library_ == nullptr) {
      why_not_ = not_found("cublas");
      return;
    }
    const auto create = find<Create>(library_, "cublasCreate_v2");
    if (create == nullptr || find<GemmEx>(library_, "cublasGemmEx") == nullptr) {
      why_not_ = "libcublas lacks a function; it is too old";
    } else if (const int status = create(&handle_); status != 0) {
      handle_ = nullptr;
      why_not_ = concat("libcublas does not start: status ", status);
    }
  }
  ~Cublas() override {
    const auto destroy = library_ == nullptr ? nullptr : find<Destroy>(library_, "cublasDestroy_v2");
    if (handle_ != nullptr && destroy != nullptr) destroy(handle_);
  }
  Cublas(const Cublas&) = delete;

  std::string why_not() const override { return why_not_; }
  std::string version() const override {
    const auto ask = handle_ == nullptr ? nullptr : find<GetVersion>(library_, "cublasGetVersion_v2");
    int number = 0;
    if (ask == nullptr || ask(handle_, &number) != 0) return "";
    return cublas_version_text(static_cast<std::size_t>(number));
  }
  void gemm(const GemmProblem& p) override {
    expect(handle_ != nullptr, "cuBLAS: ", why_not_);
    expect_known_to_cublas(p);
    const Factors factors(p.sums);
    // cuBLAS stores matrices by columns. Our row-major matrices look transposed to it, and c^T = b^T . a^T.
    const int type = cuda_type_of(p.format);
    const int status = find<GemmEx>(library_, "cublasGemmEx")(
        handle_, p.tb == Trans::no ? op_n : op_t, p.ta == Trans::no ? op_n : op_t, p.N, p.M, p.K,
        factors.one(), p.b, type, p.ldb, p.a, type, p.lda, factors.zero(), p.c, type, p.ldc,
        factors.half_sums ? compute_16f : compute_32f, any_algorithm);
    expect(status == 0, "cuBLAS: cublasGemmEx ended with status ", status);
  }

 private:
  void* library_;
  void* handle_ = nullptr;
  std::string why_not_;
};

}  // namespace

void expect_known_to_cublas(const GemmProblem& p) {
  expect(p.format != Format::f32 || p.sums == Sums::f32, "cuBLAS has no FP16 sums of FP32 operands");
}

std::unique_ptr<YardstickLibrary> open_cublas() { return std::make_unique<Cublas>(); }

}  // namespace tinymp::kernels::bench
