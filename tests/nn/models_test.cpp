#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/autograd/finite_differences.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/optim/optimizers.h>
#include <cmath>

/// The models of the lessons against the same network written down in double, and their gradients against
/// finite differences.
namespace tinymp::test {
namespace {

constexpr Recipe f64_recipe{.compute = DType::f64, .gradient = DType::f64, .master = DType::f64};

using Values = std::vector<double>;

Tensor images(std::int64_t B, std::int64_t pixels) {
  Rng rng(11);
  std::vector<float> values(static_cast<std::size_t>(B * pixels));
  for (float& v : values) v = rng.uniform(0, 1);
  return Tensor::from({B, pixels}, values);
}

/// x . w + b for one image.
Values linear(const Values& x, const Tensor& w, const Tensor& b) {
  Values y = b.to_doubles();
  const Values weight = w.to_doubles();
  for (std::size_t o = 0; o < y.size(); ++o) {
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += x[i] * weight[i * y.size() + o];
  }
  return y;
}
Values each(Values x, double (*f)(double)) {
  for (double& v : x) v = f(v);
  return x;
}
double rectified(double x) { return x > 0 ? x : 0; }
double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// The model's output for each image is that of `network`, written in double.
template <class Network>
void check_model(const nn::Model& model, const Tensor& x, Network network, double tolerance) {
  const Values got = model(x).to_doubles(), in = x.to_doubles();
  const auto pixels = static_cast<std::size_t>(x.shape()[1]);
  std::size_t at = 0;
  for (std::size_t b = 0; b < static_cast<std::size_t>(x.shape()[0]); ++b) {
    const Values image(in.begin() + static_cast<std::ptrdiff_t>(b * pixels),
                       in.begin() + static_cast<std::ptrdiff_t>((b + 1) * pixels));
    for (const double expected : network(image)) {
      INFO("image " << b << ", value " << at << ": " << got.at(at) << ", expected " << expected);
      REQUIRE(std::fabs(got.at(at) - expected) <= tolerance * std::max(1.0, std::fabs(expected)));
      ++at;
    }
  }
  CHECK(at == got.size());
}

double tolerance_of(const Recipe& recipe) {
  return recipe.compute == DType::f64 ? 1e-12 : recipe.compute == DType::f32 ? 1e-5 : 2e-2;
}

TEST_CASE("Mlp: linear layers with relu between them, none after the last") {
  for (const Recipe& recipe : {f64_recipe, recipes::fp32, recipes::fp16_master}) {
    Rng rng(1);
    const nn::Mlp model({20, 9, 7, 4}, recipe, rng);
    const std::vector<Tensor> p = tensors(model.parameters());
    REQUIRE(p.size() == 6);
    const Tensor y = model(images(5, 20));
    CHECK(y.shape() == Shape{5, 4});
    CHECK(y.dtype() == recipe.compute);
    check_model(
        model, images(5, 20),
        [&](const Values& x) {
          return linear(each(linear(each(linear(x, p[0], p[1]), rectified), p[2], p[3]), rectified), p[4],
                        p[5]);
        },
        tolerance_of(recipe));
  }
}

TEST_CASE("Autoencoder: linear layers with a sigmoid after each") {
  for (const Recipe& recipe : {f64_recipe, recipes::fp32, recipes::fp16_master}) {
    Rng rng(2);
    const nn::Autoencoder model({20, 6, 20}, recipe, rng);
    const std::vector<Tensor> p = tensors(model.parameters());
    REQUIRE(p.size() == 4);
    check_model(
        model, images(3, 20),
        [&](const Values& x) {
          return each(linear(each(linear(x, p[0], p[1]), logistic), p[2], p[3]), logistic);
        },
        tolerance_of(recipe));
  }
}

TEST_CASE("ResidualMlp: each block adds W2 relu(W1 x) to x") {
  for (const Recipe& recipe : {f64_recipe, recipes::fp32, recipes::fp16_master}) {
    Rng rng(3);
    const nn::ResidualMlp model(6, 2, recipe, rng);
    const std::vector<Tensor> p = tensors(model.parameters());
    REQUIRE(p.size() == 2 * (1 + 2 * 2 + 1));
    check_model(
        model, images(3, 784),
        [&](const Values& image) {
          Values x = linear(image, p[0], p[1]);
          for (std::size_t block = 0; block < 2; ++block) {
            const std::size_t at = 2 + 4 * block;
            const Values inner = linear(each(linear(x, p[at], p[at + 1]), rectified), p[at + 2], p[at + 3]);
            for (std::size_t i = 0; i < x.size(); ++i) x[i] += inner[i];
          }
          return linear(each(x, rectified), p[10], p[11]);
        },
        tolerance_of(recipe));
  }
}

TEST_CASE("models: gradients of every parameter are those of finite differences") {
  const auto check = [](const nn::Model& model, const Tensor& x) {
    const std::vector<std::int32_t> labels{1, 0, 3};
    const auto loss = [&] { return cross_entropy(model(x), labels); };
    const GradientReport report = check_gradients(loss, tensors(model.parameters()), {.entries = 25});
    INFO(model.name() << ": " << report);
    CHECK(report.error < 1e-6);
    for (const Tensor& p : tensors(model.parameters())) CHECK_FALSE(static_cast<bool>(p.grad()));
  };
  Rng rng(4);
  check(nn::Mlp({20, 9, 7, 4}, f64_recipe, rng), images(3, 20));
  check(nn::Autoencoder({20, 6, 20}, f64_recipe, rng), images(3, 20));
  check(nn::ResidualMlp(6, 2, f64_recipe, rng), images(3, 784));
}

TEST_CASE("models: the images get no gradient, every parameter does") {
  Rng rng(5);
  const nn::Mlp model({20, 9, 4}, recipes::fp16_master, rng);
  const Tensor x = images(3, 20);
  Tape tape;
  tape.backward(cross_entropy(model(x), std::vector<std::int32_t>{1, 0, 3}));
  CHECK_FALSE(static_cast<bool>(x.grad()));
  for (const Tensor& p : tensors(model.parameters())) {
    REQUIRE(static_cast<bool>(p.grad()));
    CHECK(p.grad().shape() == p.shape());
    CHECK(p.grad().dtype() == DType::f16);
  }
}

TEST_CASE("models: the same rng gives the same model under every recipe, but for the rounding") {
  const auto check = [](auto make) {
    Rng first(6), second(6);
    const auto wide = make(recipes::fp32, first);
    const auto narrow = make(recipes::fp16_master, second);
    const std::vector<Tensor> a = tensors(wide.parameters()), b = tensors(narrow.parameters());
    REQUIRE(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i) CHECK(cast(a[i], DType::f16).to_floats() == b[i].to_floats());
  };
  check([](const Recipe& r, Rng& rng) { return nn::Mlp({20, 9, 4}, r, rng); });
  check([](const Recipe& r, Rng& rng) { return nn::Autoencoder({20, 6, 20}, r, rng); });
  check([](const Recipe& r, Rng& rng) { return nn::ResidualMlp(6, 2, r, rng); });
}

TEST_CASE("models say what they are") {
  Rng rng(7);
  CHECK(nn::Mlp({784, 64, 10}, {}, rng).name() == "mlp 784-64-10");
  CHECK(nn::Autoencoder({20, 6, 20}, {}, rng).name() == "autoencoder 20-6-20");
  CHECK(nn::ResidualMlp(6, 12, {}, rng).name() == "residual mlp 12 blocks of 6");
  CHECK_SAYS("at least two widths", nn::Mlp({784}, {}, rng));
  CHECK_SAYS("at least two widths", nn::Autoencoder({}, {}, rng));
}

TEST_CASE("copy_parameters takes over the values, rounded to the other's format") {
  Rng rng(8);
  const nn::Mlp wide({20, 9, 4}, recipes::fp32, rng), narrow({20, 9, 4}, recipes::fp16_master, rng);
  nn::copy_parameters(wide, narrow);
  const std::vector<Tensor> from = tensors(wide.parameters()), to = tensors(narrow.parameters());
  for (std::size_t i = 0; i < from.size(); ++i)
    CHECK(to[i].to_floats() == cast(from[i], DType::f16).to_floats());
  nn::copy_parameters(narrow, wide);
  for (std::size_t i = 0; i < from.size(); ++i) CHECK(to[i].to_floats() == from[i].to_floats());
  CHECK(from[0].id() != to[0].id());

  CHECK_SAYS("copy_parameters: mlp 20-9-4 and mlp 20-4 differ",
             nn::copy_parameters(wide, nn::Mlp({20, 4}, {}, rng)));
  CHECK_SAYS("copy_parameters: (20, 9) into (20, 8)",
             nn::copy_parameters(wide, nn::Mlp({20, 8, 4}, {}, rng)));
  // A master copy would undo it in the next step.
  const Sgd owner(tensors(narrow.parameters()), {}, recipes::fp16_master);
  CHECK_SAYS("belongs to an optimizer", nn::copy_parameters(wide, narrow));
}

}  // namespace
}  // namespace tinymp::test
