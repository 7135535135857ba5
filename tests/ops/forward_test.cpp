#include <tests/catch.h>
#include <tests/ops/check_forward.h>

/// Forward of every op against long double, in every format: what the FP32 computation gets exactly must come
/// out as the exact value rounded once, bit for bit; sums, exp and log within the bound of their own entry.
namespace tinymp::test {
namespace {

void check_forward(DType dtype) {
  for (const OpCase& op : op_cases()) {
    for (const std::vector<Shape>& shapes : op.shapes) check_forward(op, shapes, dtype);
  }
}

TEST_CASE("every op in f32: forward is within its bound of exact arithmetic") { check_forward(DType::f32); }
TEST_CASE("every op in f16: forward is exact arithmetic rounded once, or within its bound") {
  check_forward(DType::f16);
}
TEST_CASE("every op in bf16: forward is exact arithmetic rounded once, or within its bound") {
  check_forward(DType::bf16);
}
TEST_CASE("every op in f64: forward is within its bound of exact arithmetic") { check_forward(DType::f64); }

TEST_CASE("scale multiplies in FP32 and rounds once as it stores") {
  Rng rng(3);
  std::vector<float> values(4096);
  for (float& v : values) v = rng.uniform(-100, 100);
  for (const float factor : {0.1f, 1.0f / 1024, 65536.0f, -3.3f, 0.0f}) {
    const Tensor x = Tensor::from({4096}, values, DType::f16);
    const std::vector<double> in = x.to_doubles(), got = scale(x, factor).to_doubles();
    for (std::size_t i = 0; i < in.size(); ++i) {
      const float product = static_cast<float>(in[i]) * factor;
      INFO(in[i] << " times " << factor);
      REQUIRE(same_bits(got[i], round_to_half(static_cast<double>(product))));
    }
  }
}

TEST_CASE("what a 16-bit sum or loss returns is FP32: it does not stop at 65504") {
  const std::vector<float> thousand(100, 1000.0f);
  const Tensor x = Tensor::from({10, 10}, thousand, DType::f16);
  CHECK(sum(x).dtype() == DType::f32);
  CHECK(sum(x).item() == 100000);
  CHECK(mean(x).item() == Approx(1000));
  CHECK(mse(x, Tensor::from({10, 10}, std::vector<float>(100, 0.0f))).item() == Approx(1e6));

  const std::vector<float> huge{60000, -60000};
  CHECK(cross_entropy(Tensor::from({1, 2}, huge, DType::f16), std::vector<std::int32_t>{1}).item() == 120000);
}

TEST_CASE("a mean is divided once: that of ones is 1") {
  for (const std::int64_t n : {3, 41, 47, 55, 61, 1000, 4097}) {
    CHECK(mean(Tensor::from({n}, std::vector<float>(static_cast<std::size_t>(n), 1.0f))).item() == 1);
  }
}

TEST_CASE("cross_entropy of equal logits is log C, however large they are") {
  for (const float logit : {0.0f, 1.0f, -30000.0f, 60000.0f}) {
    const std::vector<float> logits(10, logit);
    const Tensor x = Tensor::from({1, 10}, logits, DType::f16);
    INFO("logit " << logit);
    CHECK(cross_entropy(x, std::vector<std::int32_t>{4}).item() == Approx(std::log(10.0)).epsilon(1e-6));
  }
}

TEST_CASE("reshape shares the values, in the same order") {
  const Tensor x = Tensor::from({2, 3}, std::vector<float>{1, 2, 3, 4, 5, 6});
  const Tensor y = reshape(x, {3, 2});
  y.data<float>()[5] = 60;
  CHECK(x.to_floats() == std::vector<float>{1, 2, 3, 4, 5, 60});
  CHECK(y.shape() == Shape{3, 2});
}

}  // namespace
}  // namespace tinymp::test
