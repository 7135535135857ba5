#include <kernels/cpu/conv_reference.h>
#include <kernels/profile.h>
#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/kernels/conv_problems.h>
#include <tests/kernels/float8_rig.h>

/// Products of FP8 operands on the CPU: the chain of fused multiply-adds of gemm, then factor, bias and activation in
/// FP32, then one rounding.
namespace tinymp::test {
namespace {

using kernels::Epilogue;
using kernels::Unary;
namespace cpu = kernels::cpu;

struct Problem {
  Product product;  ///< its format is that of c
  Mix mix;
};

std::ostream& operator<<(std::ostream& out, const Problem& p) {
  return out << p.product << ", of " << p.mix.a << " and " << p.mix.b;
}

/// One size in all mixes, transpositions and formats of the result: 48 products.
std::vector<Problem> all_of(std::int64_t M, std::int64_t N, std::int64_t K) {
  std::vector<Problem> problems;
  for (const Mix& mix : float8_mixes) {
    for (const Product& way : four_transpositions()) {
      for (const DType c : float8_results)
        problems.push_back({{.M = M, .N = N, .K = K, .ta = way.ta, .tb = way.tb, .dtype = c}, mix});
    }
  }
  return problems;
}

void check(const Problem& p) {
  const Tensor a = random_codes(p.product.a_shape(), p.mix.a, 1),
               b = random_codes(p.product.b_shape(), p.mix.b, 2);
  const std::vector<double> expected = chain_oracle(p.product, values_of(a), values_of(b));
  for (const Gemm gemm : {plain_gemm, kernels::gemm_reference}) {
    INFO(p);
    REQUIRE(multiply(gemm, p.product, a, b).to_doubles() == expected);
  }
}

TEST_CASE("FP8: gemm is the chain of fused multiply-adds in float64, rounded once, for all sizes and mixes") {
  for (const std::int64_t M : {0, 1, 3, 4, 5, 6, 7, 11, 12, 13, 25}) {
    for (const std::int64_t N : {0, 1, 3, 5, 15, 16, 17, 31, 32, 33}) {
      for (const std::int64_t K : {0, 1, 7})
        for (const Problem& p : all_of(M, N, K)) check(p);
    }
  }
  for (const std::int64_t K : {511, 512, 513, 1023, 1024, 1025})
    for (const Problem& p : all_of(7, 17, K)) check(p);
  for (const auto& [M, N, K] : {std::array{95, 33, 5},
                                {97, 193, 9},
                                {200, 20, 11},
                                {13, 400, 10},
                                {385, 65, 3},
                                {30, 257, 9},
                                {130, 10, 64},
                                {64, 15, 400},
                                {100, 1, 7}})
    for (const Problem& p : all_of(M, N, K)) check(p);
}

TEST_CASE("FP8: NaN and infinity of an operand reach their row or column, and no other") {
  for (const Problem& p : all_of(13, 33, 9)) {
    const Tensor a = random_codes(p.product.a_shape(), p.mix.a, 1, 8),
                 b = random_codes(p.product.b_shape(), p.mix.b, 2, 8);
    codes_of(a)[p.product.ta == Trans::no ? 12 * 9 + 4 : 4 * 13 + 12] = p.mix.a == DType::e4m3 ? 0xff : 0xfc;
    const std::vector<double> c = multiply(plain_gemm, p.product, a, b).to_doubles();
    INFO(p);
    for (std::size_t i = 0; i < c.size(); ++i) REQUIRE(std::isfinite(c[i]) == (i / 33 != 12));
  }
}

/// factor, bias and activation of sums in FP32, rounded once.
Tensor finished(const Tensor& sums, float factor, const Tensor& bias, std::optional<Unary> f, DType dtype) {
  std::vector<float> values = sums.to_floats();
  const std::vector<float> by = bias ? bias.to_floats() : std::vector<float>();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = factor * values[i];
    if (bias) values[i] += by[i % by.size()];
  }
  const Tensor wide = Tensor::from(sums.shape(), values);
  if (f) kernels::unary(*f, wide.view(), wide.view());
  return Tensor::from(sums.shape(), wide.to_floats(), dtype);
}

const std::optional<Unary> functions[] = {{}, {Unary::relu}, {Unary::sigmoid}, {Unary::tanh}};

TEST_CASE("FP8: scales, bias and activation follow a product in FP32, and one rounding") {
  const DeviceValue<float> one(Device::cpu, 3.7f), other(Device::cpu, 0x1.9p40f);
  const auto factor = static_cast<float>(1 / (static_cast<double>(3.7f) * 0x1.9p40));
  for (const auto& [M, N, K] : {std::array{1, 1, 1}, {7, 45, 20}, {130, 7, 40}, {3, 1100, 5}, {5, 4, 0}}) {
    for (const Trans ta : {Trans::no, Trans::yes}) {
      const Product p{.M = M, .N = N, .K = K, .ta = ta};
      const Tensor a = random_codes(p.a_shape(), DType::e4m3, 1),
                   b = random_codes(p.b_shape(), DType::e5m2, 2);
      const Tensor sums = multiply(kernels::gemm_reference, p, a, b);
      for (const DType dtype : float8_results) {
        const Tensor bias = drawn({N}, dtype, 3, 1e-6f);
        for (const bool biased : {false, true}) {
          for (const std::optional<Unary>& f : functions) {
            const Tensor c = poisoned({M, N}, dtype);
            kernels::gemm(a.view(), ta, b.view(), Trans::no, c.view(), DType::f32,
                          {biased ? bias.view() : View{}, f, {cell(one), cell(other)}});
            INFO(p << ", " << dtype << (biased ? ", bias" : ""));
            REQUIRE(same(c, finished(sums, factor, biased ? bias : Tensor(), f, dtype)));
          }
        }
      }
    }
  }
}

TEST_CASE("FP8: a factor beyond the largest float leaves a sum of 0 alone, a scale alone is enough") {
  const Tensor a = Tensor::from({1, 1}, std::vector<float>{0}, DType::e5m2),
               b = Tensor::from({1, 1}, std::vector<float>{2}, DType::e5m2);
  const DeviceValue<float> tiny(Device::cpu, 0x1p-100f), four(Device::cpu, 4);
  const Tensor c({1, 1});
  kernels::gemm(a.view(), Trans::no, b.view(), Trans::no, c.view(), DType::f32,
                {.float8 = {cell(tiny), cell(tiny)}});
  CHECK(c.item() == 0);
  kernels::gemm(b.view(), Trans::no, b.view(), Trans::no, c.view(), DType::f32,
                {.float8 = {.scale_b = cell(four)}});
  CHECK(c.item() == 1);
  kernels::gemm(b.view(), Trans::no, b.view(), Trans::no, c.view(), DType::f32,
                {.float8 = {.scale_a = cell(four)}});
  CHECK(c.item() == 1);
}

TEST_CASE("FP8: scales of any size, down to subnormals and up to the largest, take no bit from a product") {
  // A power of two rounds nothing: float64 holds each of these products, and rounds it once.
  for (const TwoScales& scales : scales_of_all_sizes()) {
    INFO(scales.a << " and " << scales.b);
    for (const auto& [x, w] : {std::pair{0x1p-16f, 0x1p-16f}, {1.75f, -1.5f}, {57344.0f, 57344.0f}}) {
      const double exact = static_cast<double>(x) * static_cast<double>(w) / static_cast<double>(scales.a) /
                           static_cast<double>(scales.b);
      REQUIRE(scaled_product(x, w, scales, Device::cpu) == static_cast<float>(exact));
    }
    REQUIRE(scaled_product(0, 1, scales, Device::cpu) == 0);
  }
  // Errors of 1e-22 in E5M2 beside activations of 1e-15 in E4M3: 1 / (scale scale) is 3.9e-45, which no float is.
  const TwoScales tiny{57344 / 1e-22f, 448 / 1e-15f};
  const double exact = 57344.0 * 448 / (static_cast<double>(tiny.a) * static_cast<double>(tiny.b));
  CHECK(exact == Approx(1e-37).epsilon(1e-6));
  CHECK(std::fabs(scaled_product(57344, 448, tiny, Device::cpu) - exact) <= exact * 0x1p-23);
}

TEST_CASE("FP8: the gradient of a filter keeps its bits under tiny scales") {
  const Tensor x = random_codes({2, 4, 4, 3}, DType::e4m3, 1, 4),
               dy = random_codes({2, 4, 4, 2}, DType::e5m2, 2, 4);
  const kernels::Window window{3, 3, 1, 1};
  const auto dw_with = [&](float scale) {
    const DeviceValue<float> by(Device::cpu, scale);
    const Tensor dw = poisoned({3, 3, 3, 2}, DType::f32);
    kernels::conv2d_dw(x.view(), dy.view(), window, dw.view(), DType::f32, {cell(by), cell(by)});
    return dw.to_doubles();
  };
  const std::vector<double> plain = dw_with(1), small = dw_with(0x1p70f), large = dw_with(0x1p-66f);
  int finite = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    REQUIRE(small[i] == static_cast<float>(std::ldexp(plain[i], -140)));
    REQUIRE(static_cast<float>(large[i]) == static_cast<float>(std::ldexp(plain[i], 132)));
    finite += small[i] != 0;
  }
  CHECK(finite > 40);
}

template <class Kernel>
Tensor written(const Shape& shape, DType dtype, Kernel kernel) {
  const Tensor out = poisoned(shape, dtype);
  kernel(out.view());
  return out;
}

void check_conv(const ConvProblem& p, const Mix& mix, DType dtype) {
  INFO(p << ", of " << mix.a << " and " << mix.b << " in " << dtype);
  const auto& window = p.window;
  const Tensor x = random_codes(p.x, mix.a, 1, 60), w = random_codes(p.w(), mix.b, 2, 60),
               dy = random_codes(p.y(), mix.a, 3, 60);
  const DeviceValue<float> one(Device::cpu, 3), other(Device::cpu, 0.7f);
  const auto factor = static_cast<float>(1 / (3.0 * static_cast<double>(0.7f)));
  const kernels::Float8Product scales{cell(one), cell(other)};
  const auto wide = [](const Tensor& t) {
    const std::vector<double> values = values_of(t);
    return Tensor::from(t.shape(), std::vector<float>(values.begin(), values.end()));
  };
  const Tensor fx = wide(x), fw = wide(w), fdy = wide(dy), bias = drawn({p.outputs}, dtype, 4, 1);
  const auto expect = [&](const Tensor& sums, const Tensor& with, std::optional<Unary> f) {
    return finished(sums, factor, with, f, dtype);
  };
  const Tensor y = written(p.y(), DType::f32, [&](const View& out) {
    cpu::conv2d_reference(fx.view(), fw.view(), window, out, DType::f32, {});
  });
  for (const std::optional<Unary>& f : functions) {
    CHECK(
        same(written(p.y(), dtype,
                     [&](const View& out) {
                       kernels::conv2d(x.view(), w.view(), window, out, DType::f32, {bias.view(), f, scales});
                     }),
             expect(y, bias, f)));
  }
  CHECK(same(written(p.x, dtype,
                     [&](const View& out) {
                       kernels::conv2d_dx(dy.view(), w.view(), window, out, DType::f32, scales);
                     }),
             expect(written(p.x, DType::f32,
                            [&](const View& out) {
                              cpu::conv2d_dx_reference(fdy.view(), fw.view(), window, out, DType::f32);
                            }),
                    {}, {})));
  CHECK(same(written(p.w(), dtype,
                     [&](const View& out) {
                       kernels::conv2d_dw(x.view(), dy.view(), window, out, DType::f32, scales);
                     }),
             expect(written(p.w(), DType::f32,
                            [&](const View& out) {
                              cpu::conv2d_dw_reference(fx.view(), fdy.view(), window, out, DType::f32);
                            }),
                    {}, {})));
}

TEST_CASE(
    "FP8: conv2d and its gradients are their definition in FP32, rounded once, for all problems and mixes") {
  for (const ConvProblem& p : conv_problems()) {
    for (const Mix& mix : float8_mixes)
      for (const DType dtype : float8_results) check_conv(p, mix, dtype);
  }
}

TEST_CASE("FP8: products have the same bits for 1, 2, 3 and 7 threads") {
  const Product p{.M = 250, .N = 390, .K = 50, .ta = Trans::yes, .dtype = DType::bf16};
  const Tensor a = random_codes(p.a_shape(), DType::e4m3, 1), b = random_codes(p.b_shape(), DType::e5m2, 2);
  CHECK(same_for_all_threads([&] { return multiply(plain_gemm, p, a, b); }));
  const ConvProblem conv{{20, 9, 9, 5}, 17, {3, 3, 1, 1}};
  const Tensor x = random_codes(conv.x, DType::e4m3, 1, 60), w = random_codes(conv.w(), DType::e5m2, 2, 60);
  CHECK(same_for_all_threads([&] {
    return written(conv.y(), DType::f32, [&](const View& out) {
      kernels::conv2d(x.view(), w.view(), conv.window, out, DType::f32, {});
    });
  }));
}

// What is refused.
// ----------------------------------------------------------------------------------------------------

TEST_CASE("FP8: a product says which formats it does not take, and how to mend it") {
  const Tensor e4({2, 3}, DType::e4m3), e5({3, 4}, DType::e5m2), h({3, 4}, DType::f16), c({2, 4}, DType::f32),
      c8({2, 4}, DType::e4m3), c64({2, 4}, DType::f64), wide({2, 3});
  const auto multiply = [](const Tensor& a, const Tensor& b, const Tensor& y, DType sums = DType::f32,
                           const Epilogue& after = {}) {
    kernels::gemm(a.view(), Trans::no, b.view(), Trans::no, y.view(), sums, after);
  };
  CHECK_SAYS("gemm: e4m3(2, 3) meets f16(3, 4); quantize() or cast() one of them", multiply(e4, h, c));
  CHECK_SAYS("gemm: f32(2, 3) meets e5m2(3, 4)", multiply(wide, e5, c));
  CHECK_SAYS("gemm: e4m3(2, 3) and e5m2(3, 4) give f32, f16 or bf16, not e4m3", multiply(e4, e5, c8));
  CHECK_SAYS("gemm: e4m3(2, 3) and e5m2(3, 4) give f32, f16 or bf16, not f64", multiply(e4, e5, c64));
  CHECK_SAYS("do not give e4m3(2, 4); quantize() or cast() the result", multiply(wide, h, c8));
  CHECK_SAYS("sums of FP8 products are kept in f32, not f16; cast() both operands",
             multiply(e4, e5, c, DType::f16));
  const DeviceValue<float> scale(Device::cpu, 2);
  CHECK_SAYS("with scales, which are those of FP8 operands",
             multiply(wide, Tensor({3, 4}), c, DType::f32, {.float8 = {cell(scale)}}));
  const Tensor image({1, 4, 4, 2}, DType::e4m3), w({3, 3, 2, 2}, DType::bf16), y({1, 2, 2, 2});
  CHECK_SAYS("conv2d: e4m3(1, 4, 4, 2) meets bf16(3, 3, 2, 2)",
             kernels::conv2d(image.view(), w.view(), {3, 3}, y.view(), DType::f32, {}));
}

TEST_CASE("FP8: no kernel computes in it, and each says so") {
  const Tensor x({2, 3}, DType::e5m2), f({2, 3}), v({3}, DType::e5m2);
  const std::string mend = "cast() to f32, f16 or bf16 first";
  CHECK_SAYS("unary (relu): e5m2(2, 3). No op computes in FP8",
             kernels::unary(Unary::relu, x.view(), x.view()));
  CHECK_SAYS(mend, kernels::unary(Unary::relu, x.view(), x.view()));
  CHECK_SAYS(mend, kernels::fill(x.view(), 0));
  CHECK_SAYS(mend, kernels::add(f.view(), f.view(), x.view()));
  CHECK_SAYS(mend, kernels::accumulate(x.view(), f.view()));
  CHECK_SAYS(mend, kernels::sum(x.view(), 1, f.view()));
  CHECK_SAYS(mend, kernels::column_sums(x.view(), v.view()));
  CHECK_SAYS(mend, kernels::softmax(x.view(), x.view()));
  CHECK_SAYS(mend, kernels::batch_norm(f.view(), {v.view(), v.view(), 1e-5}, v.view(), v.view(), f.view()));
  CHECK_SAYS(mend, kernels::amax(x.view(), DeviceValue<float>(Device::cpu, 0).cell()));
  CHECK_SAYS(mend, kernels::quantize(x.view(), {}, {}, {}, x.view()));
  CHECK_SAYS("quantize writes e4m3 or e5m2, not f32", kernels::quantize(f.view(), {}, {}, {}, f.view()));
  CHECK_SAYS("quantize: x is f64; cast() it to f32 first",
             kernels::quantize(Tensor({2, 3}, DType::f64).view(), {}, {}, {}, x.view()));
  CHECK_SAYS("to nearest even, toward zero or stochastically",
             kernels::quantize(f.view(), {.rounding = Rounding::up}, {}, {}, x.view()));
  // Behind that check stands another one, for what does not come through a kernel.
  CHECK_SAYS("no op computes in e4m3", visit_dtype(DType::e4m3, []<class T> {}));
}

}  // namespace
}  // namespace tinymp::test
