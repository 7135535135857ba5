#include <dlfcn.h>
#include <lessons/lab/bench/cublas.h>
#include <lessons/lab/bench/cuda_libraries.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/half.h>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tinymp::kernels::bench {
namespace {

// From cublas_api.h and library_types.h, which have not changed since CUDA 11.
constexpr int op_n = 0, op_t = 1, compute_16f = 64, compute_32f = 68, any_algorithm = -1;
constexpr int real_32f = 0, real_16f = 2, real_16bf = 14;
using Create = int (*)(void** handle);
using Destroy = int (*)(void* handle);
using GetVersion = int (*)(void* handle, int* version);
using GemmEx = int (*)(void* handle, int op_a, int op_b, int m, int n, int k, const void* alpha,
                       const void* a, int a_type, int lda, const void* b, int b_type, int ldb,
                       const void* beta, void* c, int c_type, int ldc, int compute, int algorithm);

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

int type_of(Format format) {
  return format == Format::f32 ? real_32f : format == Format::f16 ? real_16f : real_16bf;
}

}  // namespace

Cublas::Cublas() {
  std::vector<std::string> names{"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
  for (const std::filesystem::path& file : cuda_libraries("libcublas.so", "TINYMP_CUBLAS"))
    names.push_back(file.string());
  for (const std::string& name : names) {
    library_ = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library_ != nullptr) break;
  }
  if (library_ == nullptr) {
    why_not_ =
        "libcublas is neither where the loader looks nor in the toolkit nor among the packages of python3; "
        "TINYMP_CUBLAS names its folder";
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

Cublas::~Cublas() {
  const auto destroy = library_ == nullptr ? nullptr : find<Destroy>(library_, "cublasDestroy_v2");
  if (handle_ != nullptr && destroy != nullptr) destroy(handle_);
  // The library stays loaded: it has threads and handlers of its own.
}

std::string Cublas::version() const {
  const auto ask = handle_ == nullptr ? nullptr : find<GetVersion>(library_, "cublasGetVersion_v2");
  int number = 0;
  if (ask == nullptr || ask(handle_, &number) != 0) return "";
  return concat(number / 10000, ".", number / 100 % 100, ".", number % 100);  // 130100 is 13.1.0
}

void Cublas::gemm(const GemmProblem& p) {
  expect(handle_ != nullptr, "cuBLAS: ", why_not_);
  expect(p.format != Format::f32 || p.sums == Sums::f32, "cuBLAS has no FP16 sums of FP32 operands");
  const float one = 1, zero = 0;
  const half one_16(1.0f), zero_16(0.0f);
  const bool half_sums = p.sums == Sums::f16;
  const void* const alpha = half_sums ? static_cast<const void*>(&one_16) : &one;
  const void* const beta = half_sums ? static_cast<const void*>(&zero_16) : &zero;
  // cuBLAS stores matrices by columns. Our row-major matrices look transposed to it, and c^T = b^T . a^T.
  const int type = type_of(p.format);
  const int status = find<GemmEx>(library_, "cublasGemmEx")(
      handle_, p.tb == Trans::no ? op_n : op_t, p.ta == Trans::no ? op_n : op_t, p.N, p.M, p.K, alpha, p.b,
      type, p.ldb, p.a, type, p.lda, beta, p.c, type, p.ldc, half_sums ? compute_16f : compute_32f,
      any_algorithm);
  expect(status == 0, "cuBLAS: cublasGemmEx ended with status ", status);
}

}  // namespace tinymp::kernels::bench
