#include <kernels/cuda/gemm/ladder.h>
#include <tests/base/sanitized.h>
#include <tests/emu/rig.h>
#include <tinymp/base/rng.h>
#include <cmath>
#include <cstring>
#include <limits>

// Every rung of the ladder under emulation, against sums in double: formats, sums, transpositions, ragged
// sizes, orders of threads.
namespace tinymp::test {
namespace {

using kernels::Format;
using kernels::GemmProblem;
using kernels::Rung;
using kernels::Sums;
using kernels::Trans;

constexpr Rung rungs[] = {Rung::naive,      Rung::tiled,       Rung::wmma_naive,
                          Rung::wmma_tiled, Rung::wmma_stages, Rung::mma};

struct Types {
  Format format;
  Sums sums;
};
constexpr Types types[] = {{Format::f32, Sums::f32},
                           {Format::f32, Sums::f16},
                           {Format::f16, Sums::f32},
                           {Format::f16, Sums::f16},
                           {Format::bf16, Sums::f32}};

bool takes(Rung rung, Types t) {
  const bool tensor_cores = rung >= Rung::wmma_naive;
  return t.format != Format::f32 || !tensor_cores;
}

template <class F>
void with_type(Format format, F&& f) {
  if (format == Format::f32) f(float());
  if (format == Format::f16) f(__half());
  if (format == Format::bf16) f(__nv_bfloat16());
}

/// Half a unit in the last place, relative: what one rounding may do.
double rounding(Format format) {
  return format == Format::f32 ? 0x1p-24 : format == Format::f16 ? 0x1p-11 : 0x1p-8;
}
double rounding(Sums sums) { return sums == Sums::f32 ? 0x1p-24 : 0x1p-11; }

/// A matrix of rows x cols in GPU memory, `ld` apart; what lies between the rows is NaN.
template <class T>
struct Matrix {
  int rows, cols, ld, first;
  Array<T> memory;

  Matrix(int rows_, int cols_, int ld_, int first_ = 0)
      : rows(rows_),
        cols(cols_),
        ld(ld_),
        first(first_),
        memory(static_cast<std::size_t>(first + (rows - 1) * ld + cols)) {}
  T* data() const { return memory.data() + first; }
  T& at(int row, int col) const { return data()[row * ld + col]; }
  void draw(std::uint64_t seed) {
    Rng rng(seed);
    for (int row = 0; row < rows; ++row) {
      for (int col = 0; col < cols; ++col) at(row, col) = static_cast<T>(rng.uniform(-1, 1));
    }
  }
};

struct Case {
  int M, N, K;
  Trans ta = Trans::no, tb = Trans::no;
  Types types;
  int extra;      ///< elements between rows, beyond what alignment asks for
  int width = 8;  ///< for mma: rows of a and b begin at multiples of so many elements
  int parts = 1;
};

int up_to(int n, int multiple) { return (n + multiple - 1) / multiple * multiple; }

/// Runs the case on one rung and looks at every element of c and between its rows. The message of the first
/// fault.
template <class T>
std::string fault(Rung rung, const Case& c) {
  const int a_rows = c.ta == Trans::no ? c.M : c.K, a_cols = c.ta == Trans::no ? c.K : c.M;
  const int b_rows = c.tb == Trans::no ? c.K : c.N, b_cols = c.tb == Trans::no ? c.N : c.K;
  const int unit = rung >= Rung::wmma_naive && rung != Rung::wmma_tiled ? c.width : 1;
  const int first = c.width < 8 ? c.width : 0;  // as amid an arena
  Matrix<T> a(a_rows, a_cols, up_to(a_cols + c.extra, unit), first),
      b(b_rows, b_cols, up_to(b_cols + c.extra, unit), first);
  const Matrix<T> result(c.M, c.N, c.N + c.extra);
  a.draw(1);
  b.draw(2);
  GemmProblem problem{.M = c.M,
                      .N = c.N,
                      .K = c.K,
                      .a = a.data(),
                      .b = b.data(),
                      .c = result.data(),
                      .lda = a.ld,
                      .ldb = b.ld,
                      .ldc = result.ld,
                      .ta = c.ta,
                      .tb = c.tb,
                      .format = c.types.format,
                      .sums = c.types.sums,
                      .parts = c.types.sums == Sums::f32 ? c.parts : 1};
  const Array<float> sums(static_cast<std::size_t>(kernels::sums_of_parts(problem)));
  problem.part_sums = sums.data();
  const int terms = problem.parts > 1 ? kernels::terms_of_part(problem) : c.K;
  const Rung ran = kernels::emu::gemm(rung, problem, nullptr);
  if (ran != rung) return concat("rung ", ran, " ran instead");
  const auto a_at = [&](int m, int k) {
    return static_cast<float>(c.ta == Trans::no ? a.at(m, k) : a.at(k, m));
  };
  const auto b_at = [&](int k, int n) {
    return static_cast<float>(c.tb == Trans::no ? b.at(k, n) : b.at(n, k));
  };
  for (int m = 0; m < c.M; ++m) {
    for (int n = 0; n < c.N; ++n) {
      double sum = 0, magnitude = 0;
      float chain = 0, parts_before = 0;
      for (int k = 0; k < c.K; ++k) {
        if (k > 0 && k % terms == 0) {  // the sums of the parts are added in order
          parts_before = k == terms ? chain : parts_before + chain;
          chain = 0;
        }
        const double product = static_cast<double>(a_at(m, k)) * static_cast<double>(b_at(k, n));
        sum += product;
        magnitude += std::fabs(product);
        chain = std::fma(a_at(m, k), b_at(k, n), chain);
      }
      if (c.K > terms) chain = parts_before + chain;
      const float got = static_cast<float>(result.at(m, n));
      const double error = std::fabs(static_cast<double>(got) - sum);
      const double allowed = c.K * rounding(c.types.sums) * magnitude +
                             rounding(c.types.format) * std::fabs(sum) +
                             (c.types.format == Format::f16 || c.types.sums == Sums::f16 ? 0x1p-25 * c.K : 0);
      if (!(error <= allowed)) {
        return concat("c(", m, ",", n, ") is ", got, ", expected ", sum, ", off by ", error, ", allowed ",
                      allowed);
      }
      if (c.types.sums == Sums::f32 && got != static_cast<float>(static_cast<T>(chain))) {
        return concat("c(", m, ",", n, ") is ", got, ", the chain gives ",
                      static_cast<float>(static_cast<T>(chain)));
      }
    }
    for (int n = c.N; n < result.ld && m + 1 < c.M; ++n) {
      if (!std::isnan(static_cast<float>(result.at(m, n))))
        return concat("something was written behind row ", m);
    }
  }
  return "";
}

/// Sanitizers make this 50 times slower: for them two sizes, and one order, as they do not depend on it.
void check(Rung rung, std::vector<Case> sizes) {
  if (sanitized) sizes.resize(2);
  const std::size_t orders = sanitized ? 1 : 3;
  int products = 0;
  for (const Types t : types) {
    if (!takes(rung, t)) continue;
    for (const Trans ta : {Trans::no, Trans::yes}) {
      for (const Trans tb : {Trans::no, Trans::yes}) {
        for (Case c : sizes) {
          c.ta = ta;
          c.tb = tb;
          c.types = t;
          for (std::size_t i = 0; i < orders; ++i) {
            const Options& order = all_orders()[i];
            const WithOrder with(order);
            ++products;
            std::string found;
            with_type(t.format, [&]<class T>(T) { found = fault<T>(rung, c); });
            INFO(rung << ": (" << c.M << "," << c.N << ") = (" << c.M << "," << c.K << ")(" << c.K << ","
                      << c.N << ")" << (ta == Trans::yes ? " a transposed" : "")
                      << (tb == Trans::yes ? " b transposed" : "") << ", " << name_of(t.format)
                      << ", sums in " << name_of(t.sums) << ", threads " << name_of(order));
            INFO(found);
            REQUIRE(found.empty());
          }
        }
      }
    }
  }
  CHECK(products >= 3 * 4 * static_cast<int>(orders * sizes.size()));
}

const std::vector<Case>& ragged() {
  static const std::vector<Case> sizes{{.M = 1, .N = 1, .K = 1, .types = {}, .extra = 0},
                                       {.M = 37, .N = 29, .K = 45, .types = {}, .extra = 3},
                                       {.M = 130, .N = 9, .K = 33, .types = {}, .extra = 0},
                                       {.M = 5, .N = 135, .K = 100, .types = {}, .extra = 8},
                                       {.M = 16, .N = 32, .K = 64, .types = {}, .extra = 0}};
  return sizes;
}

TEST_CASE("gemm: naive") { check(Rung::naive, ragged()); }
TEST_CASE("gemm: tiled") { check(Rung::tiled, ragged()); }
TEST_CASE("gemm: wmma-tiled") { check(Rung::wmma_tiled, ragged()); }
TEST_CASE("gemm: wmma-stages") { check(Rung::wmma_stages, ragged()); }
TEST_CASE("gemm: mma") { check(Rung::mma, ragged()); }
TEST_CASE("gemm: mma, rows that begin at any number of elements") {
  for (const int width : {2, 1}) {
    std::vector<Case> narrow = ragged();
    for (Case& c : narrow) c.width = width;
    // A classifier's head, behind layers of even width or of odd.
    narrow.push_back({.M = 64, .N = 10, .K = width == 2 ? 128 : 65, .types = {}, .extra = 0, .width = width});
    check(Rung::mma, narrow);
  }
}
TEST_CASE("gemm: mma - the tiles of products that fill a GPU") {
  if (sanitized) SKIP_TEST("a sanitizer needs minutes");
  const Case large{
      .M = 899, .N = 1017, .K = 41, .ta = Trans::yes, .types = {Format::f16, Sums::f32}, .extra = 3};
  CHECK(fault<__half>(Rung::mma, large) == "");
  // Many rows of a classifier, which begin at even numbers of elements.
  const Case tall{.M = 8100, .N = 10, .K = 26, .types = {Format::f16, Sums::f16}, .extra = 0, .width = 2};
  CHECK(fault<__half>(Rung::mma, tall) == "");
  const Case wide{.M = 10,
                  .N = 8100,
                  .K = 26,
                  .ta = Trans::yes,
                  .tb = Trans::yes,
                  .types = {Format::bf16, Sums::f32},
                  .extra = 0,
                  .width = 2};
  CHECK(fault<__nv_bfloat16>(Rung::mma, wide) == "");
}
TEST_CASE("gemm: mma, sums in parts that blocks of their own add up") {
  std::vector<Case> split;
  for (const auto& [size, parts] :
       {std::pair{Case{.M = 64, .N = 10, .K = 784, .types = {}, .extra = 0}, 6},
        std::pair{Case{.M = 70, .N = 33, .K = 130, .types = {}, .extra = 2}, 2},
        std::pair{Case{.M = 3, .N = 5, .K = 1000, .types = {}, .extra = 0}, 16},
        std::pair{Case{.M = 9, .N = 7, .K = 65, .types = {}, .extra = 1}, 9},
        std::pair{Case{.M = 5, .N = 3, .K = 1001, .types = {}, .extra = 0}, 16}}) {
    split.push_back(size);
    split.back().parts = parts;
    if (size.M == 64) split.back().width = 2;
    if (size.M == 5) split.back().width = 1;
  }
  check(Rung::mma, split);
}
TEST_CASE("gemm: mma adds the parts of a sum from the first to the last") {
  // The parts are 2^24, 1 and -2^24. FP32 loses the 1 in the first addition, and in this order alone.
  constexpr int K = 192, N = 2;
  const Matrix<__half> a(1, K, K), b(K, N, N), c(1, N, N);
  for (int k = 0; k < K; ++k) {
    const float left = k == 0 ? 4096.0f : k == 64 ? 1.0f : k == 128 ? -4096.0f : 0.0f;
    a.at(0, k) = static_cast<__half>(left);
    for (int n = 0; n < N; ++n) b.at(k, n) = static_cast<__half>(std::fabs(left));
  }
  for (const int parts : {1, 3}) {
    GemmProblem problem{.M = 1,
                        .N = N,
                        .K = K,
                        .a = a.data(),
                        .b = b.data(),
                        .c = c.data(),
                        .lda = K,
                        .ldb = N,
                        .ldc = N,
                        .format = Format::f16,
                        .parts = parts};
    const Array<float> sums(static_cast<std::size_t>(kernels::sums_of_parts(problem)));
    problem.part_sums = sums.data();
    for (const Options& order : all_orders()) {
      const WithOrder with(order);
      REQUIRE(kernels::emu::gemm(Rung::mma, problem, nullptr) == Rung::mma);
      for (int n = 0; n < N; ++n) CHECK(static_cast<float>(c.at(0, n)) == 0);
    }
  }
}
TEST_CASE("gemm: useful parts of small products with long sums") {
  const auto parts = [](int M, int N, int K, Sums sums = Sums::f32) {
    return kernels::useful_parts({.M = M, .N = N, .K = K, .format = Format::f16, .sums = sums});
  };
  CHECK(parts(64, 128, 784) == 6);  // 4 tiles, and 128 terms at least in a part
  CHECK(parts(784, 128, 64) == 1);  // a short sum
  CHECK(parts(64, 10, 100'000) == 16);
  CHECK(parts(4096, 4096, 4096) == 1);  // enough tiles
  CHECK(parts(64, 128, 784, Sums::f16) == 1);
  CHECK(parts(0, 128, 784) == 1);
}
TEST_CASE("gemm: wmma-naive") {
  check(Rung::wmma_naive, {{.M = 16, .N = 16, .K = 16, .types = {}, .extra = 0},
                           {.M = 32, .N = 48, .K = 80, .types = {}, .extra = 5},
                           {.M = 64, .N = 16, .K = 32, .types = {}, .extra = 8}});
}

TEST_CASE("gemm: no terms give +0, no elements nothing") {
  const Array<__half> a(64), c(64);
  for (const Rung rung : rungs) {
    std::fill_n(c.data(), 64, __half(7.0f));
    GemmProblem p{.M = 16,
                  .N = 2,
                  .K = 0,
                  .a = a.data(),
                  .b = a.data(),
                  .c = c.data(),
                  .lda = 8,
                  .ldb = 8,
                  .ldc = 2,
                  .format = Format::f16};
    if (rung == Rung::wmma_naive) p.N = 0, p.K = 16, p.lda = 16;  // multiples of 16; nothing to do
    kernels::emu::gemm(rung, p, nullptr);
    INFO(rung);
    for (int i = 0; i < 64; ++i) {
      const bool written = p.N > 0 && i < 32;
      REQUIRE(c.data()[i].bits() == (written ? 0 : __half(7.0f).bits()));
    }
  }
}

TEST_CASE("gemm: NaN and infinity reach their row or column, and no other - NaN is the one NaN") {
  constexpr int n = 48;
  for (const Rung rung : rungs) {
    for (const float bad :
         {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
      const Array<__half> a(std::vector<__half>(n * n, __half(0.5f))),
          b(std::vector<__half>(n * n, __half(0.25f)));
      const Array<__half> c(n * n);
      a.data()[17 * n + 4] = __half(bad);
      b.data()[9 * n + 33] = __half(bad);
      a.data()[5 * n + 9] = __half(0.0f);  // infinity times 0
      const GemmProblem p{.M = n,
                          .N = n,
                          .K = n,
                          .a = a.data(),
                          .b = b.data(),
                          .c = c.data(),
                          .lda = n,
                          .ldb = n,
                          .ldc = n,
                          .format = Format::f16};
      REQUIRE(kernels::emu::gemm(rung, p, nullptr) == rung);
      for (int i = 0; i < n * n; ++i) {
        INFO(rung << ", " << bad << ", element " << i / n << ", " << i % n);
        const __half x = c.data()[i];
        REQUIRE(isfinite(x) == (i / n != 17 && i % n != 33));
        if (isnan(x)) REQUIRE(x.bits() == 0x7e00);
      }
      CHECK(isnan(c.data()[5 * n + 33]));
    }
  }
}

// The table.
// -----------------------------------------------------------------------------------------------

/// Aligned, and multiples of 16: every rung takes it.
GemmProblem easy(Format format, Sums sums) {
  alignas(32) static unsigned char memory[32];
  return {.M = 32,
          .N = 32,
          .K = 32,
          .a = memory,
          .b = memory,
          .c = memory,
          .lda = 32,
          .ldb = 32,
          .ldc = 32,
          .format = format,
          .sums = sums};
}

TEST_CASE("ladder: what a rung does not take is refused, with the reason") {
  using kernels::rung_for;
  for (const Rung rung : rungs) {
    for (const Types t : types) {
      INFO(rung << ", " << name_of(t.format) << ", " << name_of(t.sums));
      if (takes(rung, t)) {
        CHECK(rung_for(rung, easy(t.format, t.sums), 90) == rung);
      } else {
        CHECK_SAYS("does not take f32 operands with sums in f", rung_for(rung, easy(t.format, t.sums), 90));
      }
    }
    CHECK_SAYS("sums of BF16 products are kept in FP32 only",
               rung_for(rung, easy(Format::bf16, Sums::f16), 90));
  }
  CHECK_SAYS(
      "gemm: wmma-naive does not take bf16 operands with sums in f32: with bf16 it needs sm_80, and this GPU "
      "is "
      "sm_75; ask for a lower rung",
      rung_for(Rung::wmma_naive, easy(Format::bf16, Sums::f32), 75));
  CHECK_SAYS("with f16 it needs sm_80", rung_for(Rung::mma, easy(Format::f16, Sums::f32), 75));
  CHECK(rung_for(Rung::wmma_tiled, easy(Format::f16, Sums::f32), 75) == Rung::wmma_tiled);
  kernels::RungRules of_hopper = kernels::rules_of(Rung::mma);
  of_hopper.last_architecture = 90;
  CHECK(kernels::refusal(of_hopper, easy(Format::f16, Sums::f32), 90).empty());
  CHECK(kernels::refusal(of_hopper, easy(Format::f16, Sums::f32), 100) ==
        "it is written for GPUs up to sm_90, and this GPU is sm_100");
  GemmProblem biased = easy(Format::f16, Sums::f32);
  biased.relu = true;
  CHECK(rung_for(Rung::mma, biased, 90) == Rung::mma);
  CHECK_SAYS("wmma-tiled adds no bias and has no relu", rung_for(Rung::wmma_tiled, biased, 90));
  GemmProblem wide = easy(Format::f16, Sums::f32);
  wide.N = wide.ldb = wide.ldc = 65535 * 16 + 1;
  CHECK_SAYS("a product of 1048561 columns: a grid has 65535 blocks along them",
             rung_for(Rung::mma, wide, 90));
  GemmProblem overlapping = easy(Format::f16, Sums::f32);
  overlapping.ldb = 31;
  CHECK_SAYS("rows must not overlap", rung_for(Rung::naive, overlapping, 90));
}

TEST_CASE("ladder: sizes and strides that a rung does not take go to the next below") {
  using kernels::rung_for;
  const GemmProblem good = easy(Format::f16, Sums::f32);
  GemmProblem p = good;
  p.lda = 33;  // 66 bytes
  CHECK(rung_for(Rung::mma, p, 90) == Rung::mma);
  CHECK(rung_for(Rung::wmma_stages, p, 90) == Rung::wmma_tiled);
  CHECK(rung_for(Rung::wmma_naive, p, 90) == Rung::tiled);
  p.lda = 34;  // 68 bytes
  CHECK(rung_for(Rung::mma, p, 90) == Rung::mma);
  CHECK(rung_for(Rung::wmma_stages, p, 90) == Rung::wmma_tiled);
  p = good;
  p.K = 31;
  CHECK(rung_for(Rung::mma, p, 90) == Rung::mma);
  CHECK(rung_for(Rung::wmma_naive, p, 90) == Rung::tiled);
  p = good;
  p.b = static_cast<const char*>(good.b) + 16;
  CHECK(rung_for(Rung::mma, p, 90) == Rung::mma);
  CHECK(rung_for(Rung::wmma_naive, p, 90) == Rung::tiled);
  p.b = static_cast<const char*>(good.b) + 4;
  CHECK(rung_for(Rung::mma, p, 90) == Rung::mma);
  CHECK(rung_for(Rung::wmma_stages, p, 90) == Rung::wmma_tiled);
  p.b = static_cast<const char*>(good.b) + 2;
  CHECK(rung_for(Rung::mma, p, 90) == Rung::mma);
  CHECK(rung_for(Rung::naive, p, 90) == Rung::naive);
}

TEST_CASE("ladder: the best rung") {
  using kernels::best_rung;
  CHECK(best_rung(easy(Format::f32, Sums::f32), 90) == Rung::tiled);
  CHECK(best_rung(easy(Format::f16, Sums::f16), 90) == Rung::mma);
  CHECK(best_rung(easy(Format::bf16, Sums::f32), 80) == Rung::mma);
  CHECK(best_rung(easy(Format::f16, Sums::f32), 75) == Rung::wmma_tiled);
  CHECK(best_rung(easy(Format::bf16, Sums::f32), 75) == Rung::tiled);
  CHECK(kernels::rung_from_name("wmma-naive") == Rung::wmma_naive);
  CHECK_SAYS("there is no rung 'wgmma' on the GEMM ladder: choose one of naive, tiled, wmma-naive",
             kernels::rung_from_name("wgmma"));
}

}  // namespace
}  // namespace tinymp::test
