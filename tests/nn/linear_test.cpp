#include <tinymp/nn/linear.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/autograd/finite_differences.h>
#include <cmath>

namespace tinymp::test {
namespace {

constexpr Recipe f64_recipe{.compute = DType::f64, .gradient = DType::f64, .master = DType::f64};

TEST_CASE("Linear: shapes, formats, and that it wants to be trained") {
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_weights, recipes::fp16_master, f64_recipe}) {
    Rng rng(1);
    const nn::Linear layer(3, 5, recipe, rng);
    CHECK(layer.weight.shape() == Shape{3, 5});
    CHECK(layer.bias.shape() == Shape{5});
    CHECK(layer.weight.dtype() == recipe.compute);
    CHECK(layer.bias.dtype() == recipe.compute);
    CHECK(layer.weight.requires_grad());
    CHECK(layer.bias.requires_grad());
  }
}

TEST_CASE("Linear: the first weights fill +- gain / sqrt(inputs) evenly, the bias +- 1 / sqrt(inputs)") {
  for (const float gain : {nn::gain_default, nn::gain_he}) {
    Rng rng(2);
    const nn::Linear layer(100, 300, {}, rng, gain);
    const auto check = [](const Tensor& t, double bound) {
      double largest = 0, sum = 0, squares = 0;
      for (const double v : t.to_doubles()) {
        largest = std::max(largest, std::fabs(v));
        sum += v;
        squares += v * v;
      }
      const auto n = static_cast<double>(t.size());
      CHECK(largest <= bound * (1 + 1e-6));
      CHECK(largest > bound * 0.97);
      CHECK(std::fabs(sum / n) < 4 * bound / std::sqrt(3 * n));                   // 4 standard errors
      CHECK(squares / n == Approx(bound * bound / 3).epsilon(4 / std::sqrt(n)));  // of a uniform distribution
    };
    check(layer.weight, static_cast<double>(gain) / 10);
    check(layer.bias, 0.1);
  }
}

TEST_CASE("Linear: the same rng gives the same weights under every recipe, but for their rounding") {
  Rng first(3), second(3), third(3), other(4);
  const nn::Linear wide(7, 9, recipes::fp32, first), narrow(7, 9, recipes::fp16_dynamic, second),
      again(7, 9, recipes::fp32, third), different(7, 9, recipes::fp32, other);
  CHECK(cast(wide.weight, DType::f16).to_floats() == narrow.weight.to_floats());
  CHECK(cast(wide.bias, DType::f16).to_floats() == narrow.bias.to_floats());
  CHECK(again.weight.to_floats() == wide.weight.to_floats());
  CHECK(different.weight.to_floats() != wide.weight.to_floats());
  CHECK(first.counter() == second.counter());  // and leaves it at the same place for the next layer
}

TEST_CASE("Linear: y = x . weight + bias") {
  Rng rng(5);
  const nn::Linear layer(2, 3, {}, rng);
  const auto put = [](const Tensor& t, std::initializer_list<float> values) {
    std::copy(values.begin(), values.end(), t.data<float>());
  };
  put(layer.weight, {1, 2, 3, 4, 5, 6});
  put(layer.bias, {10, 20, 30});
  const Tensor x = Tensor::from({2, 2}, std::vector<float>{1, 0, 1, 1});
  CHECK(layer(x).to_floats() == std::vector<float>{11, 22, 33, 15, 27, 39});
}

TEST_CASE("Linear: the recipe's accumulator is the one that sums") {
  Rng rng(6);
  Recipe recipe = recipes::fp16_master;
  const nn::Linear wide(3000, 1, recipe, rng);
  recipe.accumulate = DType::f16;
  const nn::Linear narrow(3000, 1, recipe, rng);
  for (const nn::Linear& layer : {wide, narrow}) {
    std::fill_n(layer.weight.data<half>(), 3000, half(1.0f));
    std::fill_n(layer.bias.data<half>(), 1, half(0.0f));
  }
  const Tensor ones = Tensor::from({1, 3000}, std::vector<float>(3000, 1), DType::f16);
  CHECK(wide(ones).item() == 3000);
  CHECK(narrow(ones).item() == 2048);
}

TEST_CASE("Linear: gradients of weight, bias and input are those of finite differences") {
  Rng rng(7);
  const nn::Linear layer(4, 3, f64_recipe, rng);
  const std::vector<double> values{0.1, -0.2, 0.3, 0.4, 1, 2, -3, 4, 0, 0.5, -0.5, 1};
  const Tensor x = Tensor::from({3, 4}, std::span<const double>(values)).set_requires_grad(true);
  const GradientReport report = check_gradients([&] { return layer(x); }, {x, layer.weight, layer.bias});
  INFO(report);
  CHECK(report.error < 1e-6);
  CHECK(report.checked == 12 + 12 + 3);
}

TEST_CASE("Linear: no inputs or no outputs is refused") {
  Rng rng(8);
  CHECK_SAYS("Linear: 0 inputs and 3 outputs", nn::Linear(0, 3, {}, rng));
  CHECK_SAYS("Linear: 3 inputs and -1 outputs", nn::Linear(3, -1, {}, rng));
}

}  // namespace
}  // namespace tinymp::test
