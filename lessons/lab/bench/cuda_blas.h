#pragma once

#include <dlfcn.h>
#include <kernels/cuda/gemm/ladder.h>
#include <lessons/lab/bench/cuda_libraries.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/half.h>
#include <cstdlib>
#include <string>
#include <vector>

// What cublas.cpp and cublas_lt.cpp share. The numbers are those of cublas_api.h and library_types.h, which have not
// changed since CUDA 11.
namespace tinymp::kernels::bench {

inline constexpr int real_32f = 0, real_16f = 2, real_16bf = 14;
inline constexpr int op_n = 0, op_t = 1, compute_16f = 64, compute_32f = 68;

constexpr int cuda_type_of(Format format) {
  return format == Format::f32 ? real_32f : format == Format::f16 ? real_16f : real_16bf;
}

/// The factors of a product, in the format of its sums.
struct Factors {
  explicit Factors(Sums sums) : half_sums(sums == Sums::f16) {}
  const void* one() const { return half_sums ? static_cast<const void*>(&one_16) : &one_32; }
  const void* zero() const { return half_sums ? static_cast<const void*>(&zero_16) : &zero_32; }

  bool half_sums;
  float one_32 = 1, zero_32 = 0;
  half one_16{1.0f}, zero_16{0.0f};
};

/// Opens "libNAME.so" of version 13 or 12, wherever it lies; null when there is none. The library stays loaded for good: it has
/// threads and handlers of its own.
inline void* open_cuda_library(const std::string& name) {
  const std::string file = "lib" + name + ".so";
  std::vector<std::string> names;
  for (const std::filesystem::path& path : cuda_libraries(file, "TINYMP_CUBLAS"))
    names.push_back(path.string());
  // A folder that was named counts before what the loader finds, and that before the toolkit.
  const std::vector<std::string> loaders{file + ".13", file + ".12", file};
  names.insert(std::getenv("TINYMP_CUBLAS") != nullptr ? names.end() : names.begin(), loaders.begin(),
               loaders.end());
  for (const std::string& one : names)
    if (void* const library = dlopen(one.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  return nullptr;
}

inline std::string not_found(const std::string& name) {
  return concat("lib", name,
                " is neither where the loader looks nor in the toolkit nor among the packages of python3; "
                "TINYMP_CUBLAS names its folder");
}

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

inline std::string cublas_version_text(std::size_t number) {
  return concat(number / 10000, ".", number / 100 % 100, ".", number % 100);  // 130100 is 13.1.0
}

}  // namespace tinymp::kernels::bench
