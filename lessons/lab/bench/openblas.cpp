#include <dlfcn.h>
#include <lessons/lab/bench/openblas.h>
#include <tinymp/base/error.h>
#include <cstdlib>
#include <sstream>
#include <vector>

namespace tinymp::kernels::bench {
namespace {

constexpr int row_major = 101, no_trans = 111, trans = 112;  // values from cblas.h

template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(dlsym(library, name));
}

void* open_library() {
  if (const char* const wish = std::getenv("TINYMP_OPENBLAS")) return dlopen(wish, RTLD_NOW | RTLD_LOCAL);
  // Debian and Ubuntu; Fedora, with POSIX threads and with OpenMP; Homebrew.
  for (const char* name : {"libopenblas.so.0", "libopenblasp.so.0", "libopenblaso.so.0", "libopenblas.so",
                           "/opt/homebrew/opt/openblas/lib/libopenblas.dylib",
                           "/usr/local/opt/openblas/lib/libopenblas.dylib"}) {
    if (void* const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
  }
  return nullptr;
}

/// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." -> "0.3.21"
std::string version_in(const char* config) {
  std::istringstream words(config);
  std::string word;
  words >> word >> word;
  return word;
}

}  // namespace

OpenBlas::OpenBlas(int threads) {
  void* const library = open_library();
  if (library == nullptr) {
    const char* const wish = std::getenv("TINYMP_OPENBLAS");
    const char* const reason = dlerror();
    why_not_ = wish != nullptr
                   ? concat("TINYMP_OPENBLAS=", wish, " cannot be loaded (",
                            reason != nullptr ? reason : "why is not told", ")")
                   : std::string("it is not on this machine (Debian, Ubuntu: apt-get install libopenblas0)");
    return;
  }
  sgemm_ = find<Sgemm>(library, "cblas_sgemm");
  const auto set_threads = find<void (*)(int)>(library, "openblas_set_num_threads");
  const auto get_threads = find<int (*)()>(library, "openblas_get_num_threads");
  const auto get_core = find<char* (*)()>(library, "openblas_get_corename");
  const auto get_config = find<char* (*)()>(library, "openblas_get_config");
  if (sgemm_ == nullptr || set_threads == nullptr || get_threads == nullptr || get_core == nullptr ||
      get_config == nullptr) {
    why_not_ = "the library of that name lacks a function of OpenBLAS";
    return;
  }
  set_threads(threads);
  threads_ = get_threads();
  core_ = get_core();
  version_ = version_in(get_config());
}

void OpenBlas::sgemm(bool ta, bool tb, int M, int N, int K, const float* a, const float* b, float* c) const {
  expect(why_not_.empty(), "OpenBLAS: ", why_not_);
  sgemm_(row_major, ta ? trans : no_trans, tb ? trans : no_trans, M, N, K, 1, a, ta ? M : K, b, tb ? K : N, 0,
         c, N);
}

}  // namespace tinymp::kernels::bench
