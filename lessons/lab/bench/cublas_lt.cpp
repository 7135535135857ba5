#include <cuda_runtime_api.h>
#include <kernels/cuda/check.h>
#include <lessons/lab/bench/cuda_blas.h>
#include <lessons/lab/bench/yardstick.h>
#include <cstdint>
#include <tuple>

namespace tinymp::kernels::bench {
namespace {

// From cublasLt.h, which has not changed in these since CUDA 11.
constexpr int desc_transa = 3, desc_transb = 4;
constexpr int pref_workspace = 1, pref_align_a = 5, pref_align_b = 6, pref_align_c = 7, pref_align_d = 8;
constexpr std::size_t workspace_bytes = std::size_t{32} << 20;

struct Algorithm {
  std::uint64_t data[8];
};
struct Choice {
  Algorithm algorithm;
  std::size_t workspace;
  int status;
  float waves;
  int reserved[4];
};

/// The functions of libcublasLt, by their names there.
struct Functions {
  explicit Functions(void* library) {
    const auto take = [&](auto& function, const char* name) {
      function = find<std::remove_reference_t<decltype(function)>>(library, name);
      complete = complete && function != nullptr;
    };
    take(create, "cublasLtCreate");
    take(destroy, "cublasLtDestroy");
    take(version, "cublasLtGetVersion");
    take(describe, "cublasLtMatmulDescCreate");
    take(set, "cublasLtMatmulDescSetAttribute");
    take(forget, "cublasLtMatmulDescDestroy");
    take(lay_out, "cublasLtMatrixLayoutCreate");
    take(forget_layout, "cublasLtMatrixLayoutDestroy");
    take(prefer, "cublasLtMatmulPreferenceCreate");
    take(set_preference, "cublasLtMatmulPreferenceSetAttribute");
    take(forget_preference, "cublasLtMatmulPreferenceDestroy");
    take(choose, "cublasLtMatmulAlgoGetHeuristic");
    take(multiply, "cublasLtMatmul");
  }

  bool complete = true;
  int (*create)(void** handle);
  int (*destroy)(void* handle);
  std::size_t (*version)();
  int (*describe)(void** description, int compute, int type_of_factors);
  int (*set)(void* description, int attribute, const void* value, std::size_t bytes);
  int (*forget)(void* description);
  int (*lay_out)(void** layout, int type, std::uint64_t rows, std::uint64_t cols, std::int64_t ld);
  int (*forget_layout)(void* layout);
  int (*prefer)(void** preference);
  int (*set_preference)(void* preference, int attribute, const void* value, std::size_t bytes);
  int (*forget_preference)(void* preference);
  int (*choose)(void* handle, void* description, void* a, void* b, void* c, void* d, void* preference,
                int wanted, Choice* choices, int* found);
  int (*multiply)(void* handle, void* description, const void* alpha, const void* a, void* a_layout,
                  const void* b, void* b_layout, const void* beta, const void* c, void* c_layout, void* d,
                  void* d_layout, const Algorithm* algorithm, void* workspace, std::size_t workspace_size,
                  cudaStream_t stream);
};

void expect_done(int status, const char* function) {
  expect(status == 0, "cuBLASLt: ", function, " ended with status ", status);
}

/// The largest power of two, to 256, that divides all three addresses.
std::uint32_t alignment_of(const GemmProblem& p) {
  const auto bits = reinterpret_cast<std::uintptr_t>(p.a) | reinterpret_cast<std::uintptr_t>(p.b) |
                    reinterpret_cast<std::uintptr_t>(p.c) | 256;
  return static_cast<std::uint32_t>(bits & -bits);
}

/// Descriptors of products of one kind and the algorithm for them, chosen once: the choice takes the CPU longer than a small
/// product takes the GPU.
class Way {
 public:
  Way(const Functions& f, void* handle, const GemmProblem& p) : f_(f) {
    const int type = cuda_type_of(p.format);
    const bool half_sums = p.sums == Sums::f16;
    expect_done(
        f.describe(product_.out(), half_sums ? compute_16f : compute_32f, half_sums ? real_16f : real_32f),
        "cublasLtMatmulDescCreate");
    // By columns, and so transposed, as in cublas.cpp: the first operand is b^T.
    const std::int32_t first = p.tb == Trans::no ? op_n : op_t, second = p.ta == Trans::no ? op_n : op_t;
    expect_done(f.set(product_.get(), desc_transa, &first, sizeof(first)), "cublasLtMatmulDescSetAttribute");
    expect_done(f.set(product_.get(), desc_transb, &second, sizeof(second)),
                "cublasLtMatmulDescSetAttribute");
    const auto lay_out = [&](Made& layout, int rows, int cols, int ld) {
      expect_done(f.lay_out(layout.out(), type, static_cast<std::uint64_t>(rows),
                            static_cast<std::uint64_t>(cols), ld),
                  "cublasLtMatrixLayoutCreate");
    };
    lay_out(b_, p.tb == Trans::no ? p.N : p.K, p.tb == Trans::no ? p.K : p.N, p.ldb);
    lay_out(a_, p.ta == Trans::no ? p.K : p.M, p.ta == Trans::no ? p.M : p.K, p.lda);
    lay_out(c_, p.N, p.M, p.ldc);
    choose(handle, alignment_of(p));
  }

  void run(void* handle, const GemmProblem& p, void* workspace) const {
    const Factors factors(p.sums);
    expect_done(
        f_.multiply(handle, product_.get(), factors.one(), p.b, b_.get(), p.a, a_.get(), factors.zero(), p.c,
                    c_.get(), p.c, c_.get(), &choice_.algorithm, workspace, workspace_bytes, nullptr),
        "cublasLtMatmul");
  }

 private:
  void choose(void* handle, std::uint32_t alignment) {
    expect_done(f_.prefer(preference_.out()), "cublasLtMatmulPreferenceCreate");
    const std::uint64_t room = workspace_bytes;
    expect_done(f_.set_preference(preference_.get(), pref_workspace, &room, sizeof(room)),
                "cublasLtMatmulPreferenceSetAttribute");
    for (const int which : {pref_align_a, pref_align_b, pref_align_c, pref_align_d})
      expect_done(f_.set_preference(preference_.get(), which, &alignment, sizeof(alignment)),
                  "cublasLtMatmulPreferenceSetAttribute");
    int found = 0;
    expect_done(f_.choose(handle, product_.get(), b_.get(), a_.get(), c_.get(), c_.get(), preference_.get(),
                          1, &choice_, &found),
                "cublasLtMatmulAlgoGetHeuristic");
    expect(found == 1 && choice_.status == 0, "cuBLASLt knows no algorithm for this product");
  }

  /// What one of the library's functions has made, and another takes back.
  class Made {
   public:
    explicit Made(int (*forget)(void*)) : forget_(forget) {}
    ~Made() {
      if (made_ != nullptr) forget_(made_);
    }
    Made(const Made&) = delete;
    void** out() { return &made_; }
    void* get() const { return made_; }

   private:
    int (*forget_)(void*);
    void* made_ = nullptr;
  };

  const Functions& f_;
  Made product_{f_.forget}, a_{f_.forget_layout}, b_{f_.forget_layout}, c_{f_.forget_layout},
      preference_{f_.forget_preference};
  Choice choice_{};
};

auto kind_of(const GemmProblem& p) {
  return std::tuple(p.M, p.N, p.K, p.lda, p.ldb, p.ldc, p.ta, p.tb, p.format, p.sums, alignment_of(p));
}

class CublasLt : public YardstickLibrary {
 public:
  CublasLt() : CublasLt(open_cuda_library("cublasLt")) {}
  ~CublasLt() override {
    way_.reset();
    if (workspace_ != nullptr) cuda::ignore(cudaFree(workspace_));
    if (handle_ != nullptr) f_.destroy(handle_);
  }
  CublasLt(const CublasLt&) = delete;

  std::string why_not() const override { return why_not_; }
  std::string version() const override { return handle_ == nullptr ? "" : cublas_version_text(f_.version()); }
  void gemm(const GemmProblem& p) override {
    expect(handle_ != nullptr, "cuBLASLt: ", why_not_);
    expect_known_to_cublas(p);
    if (workspace_ == nullptr) cuda::check(cudaMalloc(&workspace_, workspace_bytes), "memory for cuBLASLt");
    if (!way_ || kind_ != kind_of(p)) {
      way_ = std::make_unique<Way>(f_, handle_, p);
      kind_ = kind_of(p);
    }
    way_->run(handle_, p, workspace_);
  }

 private:
  explicit CublasLt(void* library) : f_(library) {
    if (library == nullptr) {
      why_not_ = not_found("cublasLt");
    } else if (!f_.complete) {
      why_not_ = "libcublasLt lacks a function; it is too old";
    } else if (const int status = f_.create(&handle_); status != 0) {
      handle_ = nullptr;
      why_not_ = concat("libcublasLt does not start: status ", status);
    }
  }

  Functions f_;
  void* handle_ = nullptr;
  void* workspace_ = nullptr;
  std::string why_not_;
  std::unique_ptr<Way> way_;  ///< of the products of the last kind
  decltype(kind_of({})) kind_{};
};

}  // namespace

std::unique_ptr<YardstickLibrary> open_cublas_lt() { return std::make_unique<CublasLt>(); }

}  // namespace tinymp::kernels::bench
