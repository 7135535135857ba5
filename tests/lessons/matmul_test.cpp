#include <kernels/cuda/gemm/ladder.h>
#include <kernels/emu/options.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/base/rng.h>
#include <cmath>
#include <lessons/02_matmul/matmul.cuh>
#include <vector>

// The kernel of lesson 02, with its barrier against sums in double, and without it.
namespace tinymp::test {
namespace {

using kernels::GemmProblem;
using kernels::Trans;
using kernels::emu::machine::ThreadOrder;

/// Rows of a tile begin at multiples of 32 bytes.
struct Matrix {
  struct alignas(32) Piece {
    half values[16];
  };
  std::vector<Piece> memory;
  int cols;

  Matrix(int rows, int columns) : memory(static_cast<std::size_t>(rows * columns / 16 + 1)), cols(columns) {}
  half* data() { return memory.front().values; }
  half& at(int row, int col) { return data()[row * cols + col]; }
  void draw(Rng& rng, int rows) {
    for (int i = 0; i < rows * cols; ++i) data()[i] = half(rng.uniform(-1.0f, 1.0f));
  }
};

using Kernel = void (*)(const GemmProblem&, kernels::Stream);

/// How many elements of c are wrong; one that nobody has written is.
int wrong(Kernel kernel, ThreadOrder order, int M, int N, int K, Trans ta = Trans::no, Trans tb = Trans::no) {
  Rng rng(1);
  Matrix a = ta == Trans::no ? Matrix(M, K) : Matrix(K, M), b = tb == Trans::no ? Matrix(K, N) : Matrix(N, K),
         c(M, N);
  a.draw(rng, ta == Trans::no ? M : K);
  b.draw(rng, tb == Trans::no ? K : N);
  for (int i = 0; i < M * N; ++i) c.data()[i] = half(NAN);
  const auto before = kernels::emu::machine::options();
  kernels::emu::machine::set_options({.order = order});
  kernel({.M = M,
          .N = N,
          .K = K,
          .a = a.data(),
          .b = b.data(),
          .c = c.data(),
          .lda = a.cols,
          .ldb = b.cols,
          .ldc = N,
          .ta = ta,
          .tb = tb,
          .format = kernels::Format::f16},
         nullptr);
  kernels::emu::machine::set_options(before);
  int count = 0;
  for (int m = 0; m < M; ++m) {
    for (int n = 0; n < N; ++n) {
      double sum = 0, terms = 0;
      for (int k = 0; k < K; ++k) {
        const double term =
            static_cast<double>(static_cast<float>(ta == Trans::no ? a.at(m, k) : a.at(k, m))) *
            static_cast<double>(static_cast<float>(tb == Trans::no ? b.at(k, n) : b.at(n, k)));
        sum += term;
        terms += std::abs(term);
      }
      const double error = std::abs(static_cast<double>(static_cast<float>(c.at(m, n))) - sum);
      count += !(error <= 0x1p-11 * std::abs(sum) + K * 0x1p-24 * terms);
    }
  }
  return count;
}

TEST_CASE("lesson 02: with its barrier the kernel is right in every order, for every size that it takes") {
  for (const ThreadOrder order : {ThreadOrder::forward, ThreadOrder::reverse, ThreadOrder::shuffled}) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        CAPTURE(static_cast<int>(order), ta == Trans::yes, tb == Trans::yes);
        CHECK(wrong(kernels::emu::matmul_with_barrier, order, 64, 64, 64, ta, tb) == 0);
        CHECK(wrong(kernels::emu::matmul_with_barrier, order, 33, 80, 16, ta, tb) == 0);
        CHECK(wrong(kernels::emu::matmul_with_barrier, order, 1, 16, 1024, ta, tb) == 0);
      }
    }
  }
}

TEST_CASE("lesson 02: without its barrier the kernel is right in one order and wrong in others") {
  const int before = threads();
  set_threads(1);  // what is left in shared memory depends on who ran there before
  const auto wrong_of = [](ThreadOrder order, int N) {
    wrong(kernels::emu::matmul_without_barrier, order, 16, 16,
          1024);  // leaves something there, but not our a
    return wrong(kernels::emu::matmul_without_barrier, order, 64, N, 64);
  };
  CHECK(wrong_of(ThreadOrder::reverse, 64) == 0);
  CHECK(wrong_of(ThreadOrder::forward, 64) > 3000);  // of 4096: all but the columns of the warp that fetches
  CHECK(wrong_of(ThreadOrder::shuffled, 64) > 1000);
  CHECK(wrong_of(ThreadOrder::forward, 16) > 1000);  // of 1024: the last layer of the lesson's network
  set_threads(before);
}

TEST_CASE("lesson 02: the kernel refuses what it does not take") {
  half x[16];
  GemmProblem p{.M = 16, .N = 16, .K = 1040, .a = x, .b = x, .c = x, .lda = 1040, .ldb = 16, .ldc = 16};
  p.format = kernels::Format::f16;
  CHECK_SAYS("K at most 1024; this problem has N = 16, K = 1040",
             kernels::emu::matmul_with_barrier(p, nullptr));
  p.K = 16, p.N = 10;
  CHECK_SAYS("N = 10", kernels::emu::matmul_with_barrier(p, nullptr));
  p.N = 16, p.sums = kernels::Sums::f16;
  CHECK_SAYS("other formats", kernels::emu::matmul_with_barrier(p, nullptr));
}

}  // namespace
}  // namespace tinymp::test
