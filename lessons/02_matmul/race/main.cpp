#include <kernels/emu/numbers.h>
#include <lessons/02_matmul/matmul.h>
#include <cstdio>
#include <string_view>

// usage: race_02 [with]. One product of 16x64x16 through the kernel of lesson 02 without its barrier, or with
// it. Built with -fsanitize=thread: at the first race it ends with ThreadSanitizer's report and exit code 66.

extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1:exitcode=66:report_signal_unsafe=0:strip_path_prefix=" TINYMP_SOURCE_DIR "/";
}

int main(int argc, char** argv) {
  using namespace tinymp;
  using namespace tinymp::kernels;
  static struct alignas(32) Matrices { half a[16 * 16], b[16 * 64], c[16 * 64]; } x;
  for (int i = 0; i < 16 * 16; ++i) x.a[i] = half(static_cast<float>(i % 7));
  for (int i = 0; i < 16 * 64; ++i) x.b[i] = half(static_cast<float>(i % 5));
  const GemmProblem product{.M = 16,
                            .N = 64,
                            .K = 16,
                            .a = x.a,
                            .b = x.b,
                            .c = x.c,
                            .lda = 16,
                            .ldb = 64,
                            .ldc = 64,
                            .format = Format::f16};
  const bool with = argc > 1 && std::string_view(argv[1]) == "with";
  (with ? emu::matmul_with_barrier : emu::matmul_without_barrier)(product, nullptr);
  std::puts("No race was found.");
}
