#include <tinymp/nn/norm.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <cmath>

/// The layer; its arithmetic: ops/layer_norm_test.cpp.
namespace tinymp::test {
namespace {

TEST_CASE("LayerNorm: first values, formats, and what wants to be trained") {
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_master}) {
    const nn::LayerNorm layer(3, recipe);
    CHECK(layer.gamma.to_doubles() == std::vector<double>{1, 1, 1});
    CHECK(layer.beta.to_doubles() == std::vector<double>{0, 0, 0});
    CHECK(layer.gamma.dtype() == recipe.compute);
    CHECK(layer.beta.dtype() == recipe.compute);
    CHECK((layer.gamma.requires_grad() && layer.beta.requires_grad()));
  }
  CHECK_SAYS("LayerNorm: a width of 0", nn::LayerNorm(0, {}));
}

TEST_CASE("LayerNorm: a row gets the same answer alone and among others, with a tape and without") {
  const nn::LayerNorm layer(2, recipes::fp32);
  layer.gamma.data<float>()[1] = 2;
  layer.beta.data<float>()[0] = 0.5f;
  const Tensor x = Tensor::from({2, 2}, std::vector<float>{5, 1, -3, 7});
  const std::vector<float> y = layer(x).to_floats();
  const std::vector<double> exact{1.5, -2, -0.5, 2};
  for (std::size_t i = 0; i < 4; ++i) CHECK(static_cast<double>(y[i]) == Approx(exact[i]).epsilon(1e-4));
  CHECK(layer(Tensor::from({1, 2}, std::vector<float>{5, 1})).to_floats() == std::vector<float>{y[0], y[1]});
  Tape tape;
  CHECK(layer(x).to_floats() == y);
}

TEST_CASE("LayerNorm: the sums are kept as its options say") {
  const Tensor x = Tensor::from({1, 5000}, std::vector<float>(5000, 1), DType::f16);
  const auto first = [&](const Accumulation& sums) {
    return nn::LayerNorm(5000, recipes::fp16_master, {.sums = sums})(x).to_doubles()[0];
  };
  CHECK(first({}) == 0);
  CHECK(first({.format = DType::f16}) > 0.5);  // around a mean of 2048 / 5000
  CHECK(first({.format = DType::f16, .chunk = 64}) == 0);
}

}  // namespace
}  // namespace tinymp::test
