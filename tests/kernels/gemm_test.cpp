#include <kernels/cpu/gemm/epilogue.h>
#include <kernels/cpu/gemm/tile.h>
#include <tests/base/child.h>
#include <tests/catch.h>
#include <tests/kernels/gemm_oracle.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/convert.h>
#include <cstdio>

/// Matrix multiplication: gemm_reference is the definition (a chain of fused multiply-adds, in order), and
/// gemm gives its bits, whatever the sizes, formats, transpositions, instruction set and number of threads.
namespace tinymp::test {
namespace {

std::vector<Product> formats() {
  return {{.dtype = DType::f32, .accumulate = DType::f32},  {.dtype = DType::f32, .accumulate = DType::f16},
          {.dtype = DType::f16, .accumulate = DType::f32},  {.dtype = DType::f16, .accumulate = DType::f16},
          {.dtype = DType::bf16, .accumulate = DType::f32}, {.dtype = DType::bf16, .accumulate = DType::f16}};
}

Product with_sizes(Product p, std::int64_t M, std::int64_t N, std::int64_t K) {
  p.M = M;
  p.N = N;
  p.K = K;
  return p;
}

/// One size in all formats and transpositions: 24 products.
std::vector<Product> all_of(std::int64_t M, std::int64_t N, std::int64_t K) {
  std::vector<Product> products;
  for (const Product& format : formats()) {
    for (const Product& way : four_transpositions()) {
      products.push_back(with_sizes(
          {.ta = way.ta, .tb = way.tb, .dtype = format.dtype, .accumulate = format.accumulate}, M, N, K));
    }
  }
  return products;
}

bool fast_is_reference(const Product& p) {
  const Tensor a = random_matrix(p.a_shape(), p.dtype, 1), b = random_matrix(p.b_shape(), p.dtype, 2);
  return same(multiply(plain_gemm, p, a, b), multiply(kernels::gemm_reference, p, a, b));
}

TEST_CASE("what follows a product changes no bit") {
  // Each step as a kernel of its own, and all of them while the product is at hand.
  for (const auto& [M, N, K] : {std::array{1, 1, 1}, {7, 45, 20}, {130, 70, 300}, {3, 1100, 5}, {5, 4, 0}}) {
    for (const DType dtype : {DType::f16, DType::bf16, DType::f32, DType::f64}) {
      const Product p = with_sizes({.dtype = dtype}, M, N, K);
      const Tensor a = random_matrix(p.a_shape(), dtype, 11), b = random_matrix(p.b_shape(), dtype, 12);
      const Tensor bias = random_matrix({N}, dtype, 13);
      for (const bool biased : {false, true}) {
        for (const std::optional<kernels::Unary> f : {std::optional<kernels::Unary>(),
                                                      {kernels::Unary::relu},
                                                      {kernels::Unary::sigmoid},
                                                      {kernels::Unary::tanh}}) {
          const Tensor alone = multiply(plain_gemm, p, a, b), fused({M, N}, dtype);
          if (biased) kernels::add_bias(alone.view(), bias.view(), alone.view());
          if (f) kernels::unary(*f, alone.view(), alone.view());
          kernels::gemm(a.view(), Trans::no, b.view(), Trans::no, fused.view(), DType::f32,
                        {biased ? bias.view() : View{}, f});
          INFO(p << (biased ? ", bias" : ""));
          CHECK(same(fused, alone));
        }
      }
    }
  }
}

TEST_CASE("what follows a product that is multiplied the other way round") {
  const Product p = with_sizes({.ta = Trans::yes, .dtype = DType::f16}, 130, 7, 40);
  const Tensor a = random_matrix(p.a_shape(), p.dtype, 11), b = random_matrix(p.b_shape(), p.dtype, 12);
  const Tensor bias = random_matrix({7}, p.dtype, 13), alone = multiply(plain_gemm, p, a, b),
               fused({130, 7}, p.dtype);
  kernels::add_bias(alone.view(), bias.view(), alone.view());
  kernels::unary(kernels::Unary::tanh, alone.view(), alone.view());
  kernels::gemm(a.view(), Trans::yes, b.view(), Trans::no, fused.view(), DType::f32,
                {bias.view(), kernels::Unary::tanh});
  CHECK(same(fused, alone));
}

TEST_CASE("a 16-bit result is written wherever its sums lie") {
  // Sums behind a 16-bit c, where an FP32 c would have its row 1: they are not c itself all the same.
  std::vector<float> memory(64, 0);
  const View c{memory.data(), DType::f16, Device::cpu, {4, 8}};
  float* sums = memory.data() + 8;
  std::fill_n(sums, 8, 1.5f);
  kernels::cpu::finish(sums, 8, 1, 8, {}, c, 1, 0);
  for (int i = 0; i < 8; ++i) CHECK(c.data<half>()[8 + i].bits() == half(1.5f).bits());
}

TEST_CASE("gemm_reference is the chain of fused multiply-adds, in order, from +0") {
  for (const auto& [M, N, K] : {std::array{3, 4, 1}, {2, 3, 2}, {1, 1, 57}, {5, 7, 40}, {2, 2, 800}}) {
    for (const Product& p : all_of(M, N, K)) {
      const Tensor a = random_matrix(p.a_shape(), p.dtype, 3), b = random_matrix(p.b_shape(), p.dtype, 4);
      const std::vector<double> expected = chain_oracle(p, a.to_doubles(), b.to_doubles());
      INFO(p);
      CHECK(multiply(kernels::gemm_reference, p, a, b).to_doubles() == expected);
    }
  }
}

TEST_CASE("gemm_reference is near the exact product") {
  for (Product p : all_of(5, 6, 300)) {
    const Tensor a = random_matrix(p.a_shape(), p.dtype, 5), b = random_matrix(p.b_shape(), p.dtype, 6);
    const std::vector<double> av = a.to_doubles(), bv = b.to_doubles();
    const std::vector<double> c = multiply(kernels::gemm_reference, p, a, b).to_doubles();
    for (std::int64_t m = 0; m < p.M; ++m) {
      for (std::int64_t n = 0; n < p.N; ++n) {
        long double sum = 0, magnitude = 0;
        for (std::int64_t k = 0; k < p.K; ++k) {
          const long double term =
              static_cast<long double>(p.a_at(av, m, k)) * static_cast<long double>(p.b_at(bv, k, n));
          sum += term;
          magnitude += std::fabs(term);
        }
        // Higham, Accuracy and Stability of Numerical Algorithms, 3.1: K roundings of sums no larger than
        // `magnitude`.
        const long double unit = p.accumulate == DType::f16 ? 0x1p-11L : 0x1p-24L;
        const long double store = p.dtype == DType::f16 ? 0x1p-11L : p.dtype == DType::bf16 ? 0x1p-8L : 0;
        const long double bound = 1.01L * (static_cast<long double>(p.K) * unit + store) * magnitude;
        INFO(p);
        REQUIRE(std::fabs(static_cast<long double>(c[static_cast<std::size_t>(m * p.N + n)]) - sum) <= bound);
      }
    }
  }
}

TEST_CASE("f64: gemm and gemm_reference are near the exact product") {
  for (const Product& way : four_transpositions()) {
    const Product p = with_sizes({.ta = way.ta, .tb = way.tb, .dtype = DType::f64}, 4, 5, 60);
    const Tensor a = random_matrix(p.a_shape(), p.dtype, 5), b = random_matrix(p.b_shape(), p.dtype, 6);
    const std::vector<double> av = a.to_doubles(), bv = b.to_doubles();
    const Tensor fast = multiply(plain_gemm, p, a, b);
    CHECK(same(fast, multiply(kernels::gemm_reference, p, a, b)));
    for (std::int64_t m = 0; m < p.M; ++m) {
      for (std::int64_t n = 0; n < p.N; ++n) {
        long double sum = 0;
        for (std::int64_t k = 0; k < p.K; ++k)
          sum += static_cast<long double>(p.a_at(av, m, k)) * static_cast<long double>(p.b_at(bv, k, n));
        CHECK(std::fabs(static_cast<long double>(fast.data<double>()[m * p.N + n]) - sum) < 1e-12L);
      }
    }
  }
}

TEST_CASE("one rounding a step: the product inside is exact") {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24: rounded by itself it loses the last term, which is all that remains
  // here.
  const float x = 1 + 0x1p-12f;
  const Tensor a = Tensor::from({1, 2}, std::vector<float>{-(1 + 0x1p-11f), x});
  const Tensor b = Tensor::from({2, 1}, std::vector<float>{1, x});
  const Product p{.M = 1, .N = 1, .K = 2};
  CHECK(multiply(kernels::gemm_reference, p, a, b).item() == 0x1p-24);
  CHECK(multiply(plain_gemm, p, a, b).item() == 0x1p-24);
}

TEST_CASE("the order of a sum shows, and is k = 0, 1, 2, ...") {
  // 2^24 + 1 is 2^24 in FP32: ones that come behind it are lost, ones before it are not.
  const std::vector<float> large_first{0x1p24f, 1, 1, 1, 1}, large_last{1, 1, 1, 1, 0x1p24f};
  const Tensor ones = Tensor::from({5, 1}, std::vector<float>(5, 1));
  const Product p{.M = 1, .N = 1, .K = 5};
  for (const Gemm gemm : {plain_gemm, kernels::gemm_reference}) {
    CHECK(multiply(gemm, p, Tensor::from({1, 5}, large_first), ones).item() == 0x1p24);
    CHECK(multiply(gemm, p, Tensor::from({1, 5}, large_last), ones).item() == 0x1p24 + 4);
  }
}

TEST_CASE("an f16 accumulator stops counting at 2048, an f32 one rounds once at the end") {
  for (const Gemm gemm : {plain_gemm, kernels::gemm_reference}) {
    for (const DType dtype : {DType::f32, DType::f16}) {
      const Tensor row = Tensor::from({1, 4097}, std::vector<float>(4097, 1), dtype);
      const Tensor column = Tensor::from({4097, 1}, std::vector<float>(4097, 1), dtype);
      const Product narrow{.M = 1, .N = 1, .K = 4097, .dtype = dtype, .accumulate = DType::f16};
      CHECK(multiply(gemm, narrow, row, column).item() == 2048);
      const Product wide{.M = 1, .N = 1, .K = 4097, .dtype = dtype, .accumulate = DType::f32};
      CHECK(multiply(gemm, wide, row, column).item() == (dtype == DType::f32 ? 4097 : 4096));
    }
    // Each sum is rounded: 2048 + 1.5 is 2050, and 2050 + 1.5 is 2052 (a tie would be no test).
    const Product p{.M = 1, .N = 1, .K = 3, .dtype = DType::f16, .accumulate = DType::f16};
    const Tensor row = Tensor::from({1, 3}, std::vector<float>{2048, 1.5f, 1.5f}, DType::f16);
    const Tensor ones = Tensor::from({3, 1}, std::vector<float>(3, 1), DType::f16);
    CHECK(multiply(gemm, p, row, ones).item() == 2052);
    const Product exact{.M = 1, .N = 1, .K = 3, .dtype = DType::f16, .accumulate = DType::f32};
    CHECK(multiply(gemm, exact, row, ones).item() == 2052);  // 2051 is a tie: to the even neighbour

    // Overflow on the way stays, where an f32 accumulator comes back.
    const Tensor up_and_down = Tensor::from({1, 3}, std::vector<float>{60000, 60000, -60000}, DType::f16);
    CHECK(std::isinf(multiply(gemm, p, up_and_down, ones).item()));
    CHECK(multiply(gemm, exact, up_and_down, ones).item() == 60000);
  }
}

TEST_CASE("gemm gives the bits of gemm_reference") {
  std::int64_t products = 0;
  // A tile is 4x4, 6x16 or 12x32. Around each edge, and nothing at all.
  for (const std::int64_t M : {0, 1, 3, 4, 5, 6, 7, 11, 12, 13, 25}) {
    for (const std::int64_t N : {0, 1, 3, 5, 15, 16, 17, 31, 32, 33}) {
      for (const std::int64_t K : {0, 1, 7}) {
        for (const Product& p : all_of(M, N, K)) {
          ++products;
          if (!fast_is_reference(p)) FAIL(p);
        }
      }
    }
  }
  // K around the block of 512, and around two of them.
  for (const std::int64_t K : {511, 512, 513, 1023, 1024, 1025}) {
    for (const Product& p : all_of(7, 17, K)) {
      ++products;
      INFO(p);
      REQUIRE(fast_is_reference(p));
    }
  }
  for (const Product& p : all_of(500, 100, 0)) REQUIRE(fast_is_reference(p));
  // M and N around the least that a thread takes, 96 rows, around the most, 384, and around the 256 columns
  // that are packed together; and few columns of many rows, which are multiplied the other way round.
  for (const auto& [M, N, K] : {std::array{95, 33, 5},
                                {97, 193, 9},
                                {200, 20, 11},
                                {13, 400, 10},
                                {385, 65, 3},
                                {30, 257, 9},
                                {130, 10, 64},
                                {64, 15, 400},
                                {100, 1, 7}}) {
    for (const Product& p : all_of(M, N, K)) {
      ++products;
      INFO(p);
      REQUIRE(fast_is_reference(p));
    }
  }
  // Panels of B that several pieces share, over more than one block of K.
  for (const Trans tb : {Trans::no, Trans::yes}) {
    const Product large{.M = 97,
                        .N = 290,
                        .K = 385,
                        .ta = Trans::yes,
                        .tb = tb,
                        .dtype = DType::f16,
                        .accumulate = DType::f32};
    CHECK(fast_is_reference(large));
  }
  std::printf("equal products: %lld\n", static_cast<long long>(products));
}

TEST_CASE("nothing to add up is +0, not what was there") {
  for (const Product& p : all_of(3, 5, 0)) {
    const Tensor a = random_matrix(p.a_shape(), p.dtype, 1), b = random_matrix(p.b_shape(), p.dtype, 2);
    for (const Gemm gemm : {plain_gemm, kernels::gemm_reference}) {
      for (const double v : multiply(gemm, p, a, b).to_doubles()) CHECK((v == 0 && !std::signbit(v)));
    }
  }
  // The chain starts at +0, so a product of -0 gives +0 as well.
  const Tensor minus = Tensor::from({1, 1}, std::vector<float>{-0.0f}),
               one = Tensor::from({1, 1}, std::vector<float>{1});
  const Product p{.M = 1, .N = 1, .K = 1};
  CHECK_FALSE(std::signbit(multiply(plain_gemm, p, minus, one).item()));
  CHECK_FALSE(std::signbit(multiply(kernels::gemm_reference, p, minus, one).item()));
}

TEST_CASE("NaN and infinity reach their row or column, and no other") {
  const double nan = std::numeric_limits<double>::quiet_NaN(),
               infinity = std::numeric_limits<double>::infinity();
  for (const Product& p : all_of(13, 33, 9)) {
    for (const double bad : {nan, infinity, -infinity}) {
      const Tensor a = random_matrix(p.a_shape(), p.dtype, 1), b = random_matrix(p.b_shape(), p.dtype, 2);
      const auto spoil = [&](const Tensor& x, std::int64_t i) {
        visit_dtype(x.dtype(), [&]<class T> { x.data<T>()[i] = converted<T>(static_cast<float>(bad)); });
      };
      spoil(a, p.ta == Trans::no ? 12 * p.K + 4 : 4 * p.M + 12);  // a(12,4): row 12 of c, the last
      spoil(b, p.tb == Trans::no ? 8 * p.N + 32 : 32 * p.K + 8);  // b(8,32): column 32 of c, the last
      const Tensor fast = multiply(plain_gemm, p, a, b),
                   reference = multiply(kernels::gemm_reference, p, a, b);
      INFO(p << ", with " << bad);
      CHECK(same(fast, reference));
      const std::vector<double> c = fast.to_doubles();
      bool right = true;
      for (std::int64_t m = 0; m < p.M; ++m) {
        for (std::int64_t n = 0; n < p.N; ++n) {
          const double v = c[static_cast<std::size_t>(m * p.N + n)];
          right = right && std::isfinite(v) == (m != 12 && n != 32);
          if (std::isnan(bad) && (m == 12 || n == 32)) right = right && std::isnan(v);
        }
      }
      CHECK(right);
    }
  }
}

TEST_CASE("infinity times 0 is NaN - in f16 it is the one NaN") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Product& format : formats()) {
    const Product p = with_sizes(format, 1, 1, 2);
    const Tensor a = Tensor::from({1, 2}, std::vector<float>{infinity, 1}, p.dtype);
    const Tensor b = Tensor::from({2, 1}, std::vector<float>{0, 1}, p.dtype);
    for (const Gemm gemm : {plain_gemm, kernels::gemm_reference}) {
      const Tensor c = multiply(gemm, p, a, b);
      CHECK(std::isnan(c.item()));
      if (p.dtype == DType::f16) CHECK(c.data<half>()[0].bits() == 0x7e00);
    }
  }
}

TEST_CASE("gemm gives the same bits for 1, 2, 3 and 7 threads") {
  const int usual = threads();
  for (const Product& format : formats()) {
    const Product p =
        with_sizes({.ta = Trans::yes, .dtype = format.dtype, .accumulate = format.accumulate}, 250, 390, 50);
    const Tensor a = random_matrix(p.a_shape(), p.dtype, 1), b = random_matrix(p.b_shape(), p.dtype, 2);
    set_threads(1);
    const Tensor alone = multiply(plain_gemm, p, a, b);
    for (const int count : {2, 3, 7}) {
      set_threads(count);
      INFO(p << ", " << count << " threads");
      CHECK(same(multiply(plain_gemm, p, a, b), alone));
    }
  }
  set_threads(usual);
}

// The instruction sets.
// -----------------------------------------------------------------------------------------------

bool machine_has(const std::string& isa) {
#if defined(__x86_64__)
  if (isa == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
#endif
  return isa == "portable";
}

/// One tile against the chain, element by element: no packing, no blocking, no threads. What lies around the
/// tile in C is not touched, and what lies beside its columns in B is not read.
void check_tile(const kernels::cpu::Tile& tile, int rows, int columns, const kernels::cpu::Walk& k,
                std::int64_t a_row, bool half_sums, bool from_zero) {
  const std::int64_t K = k.outer * k.inner, c_row = columns + 5, b_row = columns + 3;
  const std::int64_t reach = k.outer * k.outer_step + k.inner * k.inner_step + rows * a_row + 1;
  const DType dtype = half_sums ? DType::f16 : DType::f32;
  const std::vector<float> a = random_matrix({1, reach}, dtype, 8).to_floats();
  const std::vector<float> b = random_matrix({K + 1, b_row}, dtype, 9).to_floats();
  std::vector<float> c = random_matrix({rows, c_row}, dtype, 10).to_floats();
  std::vector<float> expected = c;
  const auto at = [](const std::vector<float>& x, std::int64_t i) {
    return static_cast<double>(x.at(static_cast<std::size_t>(i)));
  };
  for (std::int64_t r = 0; r < rows; ++r) {
    for (std::int64_t n = 0; n < columns; ++n) {
      double sum = from_zero ? 0 : at(c, r * c_row + n);
      for (std::int64_t i = 0; i < K; ++i) {
        const std::int64_t place = i / k.inner * k.outer_step + i % k.inner * k.inner_step;
        sum = static_cast<double>(
            fused_multiply_add_oracle(at(a, r * a_row + place), at(b, i * b_row + n), sum));
        if (half_sums) sum = round_to_half(sum);
      }
      expected[static_cast<std::size_t>(r * c_row + n)] = static_cast<float>(sum);
    }
  }
  kernels::cpu::TileWork work;
  work.a = a.data(), work.a_row = a_row;
  work.b = b.data(), work.b_row = b_row;
  work.c = c.data(), work.c_row = c_row;
  work.k = k;
  work.rows = rows, work.columns = columns;
  work.half_sums = half_sums, work.from_zero = from_zero;
  tile.multiply(work);
  INFO(rows << "x" << columns << ", K = " << K << (half_sums ? ", sums in f16" : ", sums in f32")
            << (from_zero ? "" : ", goes on from c"));
  CHECK(c == expected);
}

void check_tile(const kernels::cpu::Tile& tile) {
  REQUIRE(tile.multiply != nullptr);
  for (int columns = 1; columns <= tile.columns; ++columns) {
    for (int rows = 1; rows <= tile.rows_for(columns); ++rows) {
      const bool odd = (rows + columns) % 2 == 1;
      check_tile(tile, rows, columns, {.inner = 7}, 9, odd, rows % 3 == 0);
      check_tile(tile, rows, columns, {.outer = 2, .outer_step = 21, .inner = 3, .inner_step = 5}, 1, !odd,
                 rows % 3 != 0);
    }
  }
  for (const bool half_sums : {false, true}) {
    check_tile(tile, tile.rows, tile.columns, {.inner = 40}, 40, half_sums, true);
    check_tile(tile, tile.rows, tile.columns, {.outer = 0, .inner = 1}, 1, half_sums, false);  // K = 0
    check_tile(tile, tile.rows, tile.columns, {.outer = 0, .inner = 1}, 1, half_sums, true);
  }
}

TEST_CASE("the portable tile is the chain") { check_tile(kernels::cpu::tile_portable()); }

TEST_CASE("the AVX2 tile is the chain") {
  if (!machine_has("avx2")) SKIP_TEST("this processor has no AVX2 with FMA");
  check_tile(kernels::cpu::tile_avx2());
}

TEST_CASE("the AVX-512 tile is the chain") {
  if (!machine_has("avx512")) SKIP_TEST("this processor has no AVX-512");
  check_tile(kernels::cpu::tile_avx512());
}

std::string size_of(const kernels::cpu::Tile& tile) {
  return std::to_string(tile.rows) + "x" + std::to_string(tile.columns);
}

TEST_CASE("the tile in use") {
  try {
    const kernels::cpu::Tile& tile = kernels::cpu::best_tile();
    std::printf("tile: %s\n", size_of(tile).c_str());
    CHECK(tile.multiply != nullptr);
  } catch (const UsageError& error) {
    std::printf("usage: %s\n", error.what());
  } catch (const MissingError& error) {
    std::printf("missing: %s\n", error.what());
  }
}

void check_isa(const std::string& isa, const kernels::cpu::Tile& tile) {
  const std::optional<ChildResult> chosen = run_again("TINYMP_ISA=" + isa, "the tile in use");
  if (!chosen) SKIP_TEST("this system does not say where the running program lies");
  if (!machine_has(isa)) {
    CHECK(chosen->line("missing: ") ==
          "TINYMP_ISA asks for " + isa + ", which this processor cannot run: unset it");
    SKIP_TEST("this processor does not have that instruction set");
  }
  CHECK(chosen->line("tile: ") == size_of(tile));
  const ChildResult result = *run_again("TINYMP_ISA=" + isa, "gemm gives the bits of gemm_reference");
  INFO(result.output);
  CHECK(result.status == 0);
  CHECK(std::stoi(result.line("equal products: ")) > 4000);
}

TEST_CASE("TINYMP_ISA=portable gives the bits of gemm_reference") {
  check_isa("portable", kernels::cpu::tile_portable());
}
TEST_CASE("TINYMP_ISA=avx2 gives the bits of gemm_reference") {
  check_isa("avx2", kernels::cpu::tile_avx2());
}
TEST_CASE("TINYMP_ISA=avx512 gives the bits of gemm_reference") {
  check_isa("avx512", kernels::cpu::tile_avx512());
}

TEST_CASE("another TINYMP_ISA is refused - an empty one asks for the widest") {
  const std::optional<ChildResult> result = run_again("TINYMP_ISA=sse9", "the tile in use");
  if (!result) SKIP_TEST("this system does not say where the running program lies");
  CHECK(result->line("usage: ") == "TINYMP_ISA is 'sse9': set it to portable, avx2 or avx512, or unset it");
  const std::string widest = size_of(machine_has("avx512") ? kernels::cpu::tile_avx512()
                                     : machine_has("avx2") ? kernels::cpu::tile_avx2()
                                                           : kernels::cpu::tile_portable());
  CHECK(run_again("TINYMP_ISA=", "the tile in use")->line("tile: ") == widest);
  CHECK(run_again("-u TINYMP_ISA", "the tile in use")->line("tile: ") == widest);
}

}  // namespace
}  // namespace tinymp::test
