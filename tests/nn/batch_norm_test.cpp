#include <tinymp/nn/norm.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/autograd/finite_differences.h>
#include <tinymp/nn/deep_mlp.h>
#include <cmath>

/// The layer and the network with it, against both written down in double.
namespace tinymp::test {
namespace {

constexpr Recipe f64_recipe{.compute = DType::f64, .gradient = DType::f64, .master = DType::f64};
constexpr double epsilon = 1e-5f;

using Values = std::vector<double>;

Tensor drawn(Shape shape, std::uint64_t seed, float lo, float hi, DType dtype = DType::f32) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = rng.uniform(lo, hi);
  if (dtype == DType::f64) return cast(Tensor::from(shape, values), dtype);
  return Tensor::from(shape, values, dtype);
}

struct Moments {
  double mean = 0, variance = 0;
};
Moments of_column(const Values& x, std::size_t c, std::size_t columns) {
  Moments m;
  const double rows = static_cast<double>(x.size() / columns);
  for (std::size_t i = c; i < x.size(); i += columns) m.mean += x[i] / rows;
  for (std::size_t i = c; i < x.size(); i += columns) m.variance += (x[i] - m.mean) * (x[i] - m.mean) / rows;
  return m;
}

Tensor training(const nn::BatchNorm& layer, const Tensor& x) {
  Tape tape;
  return layer(x);
}

TEST_CASE("BatchNorm: shapes, formats, first values, and what wants to be trained") {
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_master, f64_recipe}) {
    const nn::BatchNorm layer(3, recipe);
    const DType wide = recipe.compute == DType::f64 ? DType::f64 : DType::f32;
    CHECK(layer.gamma.to_doubles() == Values{1, 1, 1});
    CHECK(layer.beta.to_doubles() == Values{0, 0, 0});
    CHECK(layer.running_mean.to_doubles() == Values{0, 0, 0});
    CHECK(layer.running_variance.to_doubles() == Values{1, 1, 1});
    CHECK(layer.gamma.dtype() == recipe.compute);
    CHECK(layer.beta.dtype() == recipe.compute);
    CHECK(layer.running_mean.dtype() == wide);
    CHECK(layer.running_variance.dtype() == wide);
    CHECK((layer.gamma.requires_grad() && layer.beta.requires_grad()));
    CHECK_FALSE((layer.running_mean.requires_grad() || layer.running_variance.requires_grad()));
  }
  CHECK(nn::BatchNorm(3, recipes::o2).gamma.dtype() == DType::f32);
  CHECK(nn::BatchNorm(3, recipes::o2).beta.dtype() == DType::f32);
  CHECK(nn::BatchNorm(3, recipes::o3).gamma.dtype() == DType::f16);
  CHECK_SAYS("BatchNorm: a width of 0", nn::BatchNorm(0, {}));
}

TEST_CASE("BatchNorm: with a tape the batch is normalised by itself, and the averages follow") {
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_master, f64_recipe}) {
    const nn::BatchNorm layer(3, recipe);
    Values mean(3, 0), variance(3, 1);
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const Tensor x = drawn({40, 3}, seed, 2, 5, recipe.compute);
      const Values in = x.to_doubles(), out = training(layer, x).to_doubles();
      for (std::size_t c = 0; c < 3; ++c) {
        const Moments m = of_column(in, c, 3);
        for (std::size_t i = c; i < in.size(); i += 3) {
          const double exact = (in[i] - m.mean) / std::sqrt(m.variance + epsilon);
          REQUIRE(out[i] == Approx(exact).margin(recipe.compute == DType::f16 ? 2e-3 : 1e-5));
        }
        mean[c] = 0.9 * mean[c] + 0.1 * m.mean;
        variance[c] = 0.9 * variance[c] + 0.1 * m.variance * 40 / 39;  // as torch.nn.BatchNorm1d has it
        CHECK(layer.running_mean.to_doubles()[c] == Approx(mean[c]).epsilon(1e-6));
        CHECK(layer.running_variance.to_doubles()[c] == Approx(variance[c]).epsilon(1e-6));
      }
    }
  }
}

TEST_CASE("BatchNorm: without a tape the averages stand in, and nothing moves") {
  const nn::BatchNorm layer(2, recipes::fp32);
  std::copy_n(std::begin({3.0f, -1.0f}), 2, layer.running_mean.data<float>());
  std::copy_n(std::begin({4.0f, 0.25f}), 2, layer.running_variance.data<float>());
  std::copy_n(std::begin({2.0f, 1.0f}), 2, layer.gamma.data<float>());
  std::copy_n(std::begin({0.5f, 0.0f}), 2, layer.beta.data<float>());
  const Tensor x = Tensor::from({2, 2}, std::vector<float>{5, 0, 3, -2});
  const std::vector<float> y = layer(x).to_floats();
  const std::vector<double> exact{2.5, 2, 0.5, -2};
  for (std::size_t i = 0; i < 4; ++i) CHECK(static_cast<double>(y[i]) == Approx(exact[i]).epsilon(1e-4));
  CHECK(layer.running_mean.to_floats() == std::vector<float>{3, -1});
  CHECK(layer.running_variance.to_floats() == std::vector<float>{4, 0.25f});

  // One image alone gets the answer that it gets among others.
  const Tensor alone = Tensor::from({1, 2}, std::vector<float>{5, 0});
  CHECK(layer(alone).to_floats() == std::vector<float>{y[0], y[1]});
  CHECK_SAYS("BatchNorm: x(2, 3) does not fit a layer of width 2", layer(drawn({2, 3}, 1, 0, 1)));
  const nn::BatchNorm narrow(2, recipes::fp16_master);
  CHECK_SAYS("BatchNorm: f32(2, 2) meets f16(2)", narrow(x));
  const std::vector<float> rounded = layer(cast(x, DType::f16)).to_floats();  // FP32 parameters, FP16 images
  for (std::size_t i = 0; i < 4; ++i) CHECK(rounded[i] == static_cast<float>(half(y[i])));
  CHECK_SAYS("a batch of 1 has no variance", training(layer, alone));
}

TEST_CASE("BatchNorm: the sums are kept as its options say") {
  const Tensor ones = Tensor::from({5000, 1}, std::vector<float>(5000, 1), DType::f16);
  const auto mean = [&](const Accumulation& sums) {
    const nn::BatchNorm layer(1, recipes::fp16_master, {.sums = sums});
    training(layer, ones);
    return layer.running_mean.item();
  };
  CHECK(mean({}) == Approx(0.1));
  CHECK(mean({.format = DType::f16}) == Approx(0.1 * 2048 / 5000));
  CHECK(mean({.format = DType::f16, .chunk = 64}) == Approx(0.1));
}

/// A hidden layer with batch norm and relu, then the logits, for all images at once.
Values network(const Values& in, std::size_t pixels, const std::vector<Tensor>& p, const Values* averages) {
  const auto linear = [](const Values& x, std::size_t inputs, const Tensor& w, const Tensor& b) {
    const Values weight = w.to_doubles(), bias = b.to_doubles();
    Values y;
    for (std::size_t row = 0; row < x.size() / inputs; ++row) {
      for (std::size_t o = 0; o < bias.size(); ++o) {
        y.push_back(bias[o]);
        for (std::size_t i = 0; i < inputs; ++i)
          y.back() += x[row * inputs + i] * weight[i * bias.size() + o];
      }
    }
    return y;
  };
  Values x = linear(in, pixels, p[0], p[1]);
  const Values gamma = p[4].to_doubles(), beta = p[5].to_doubles();
  const std::size_t width = gamma.size();
  for (std::size_t c = 0; c < width; ++c) {
    const Moments m = averages ? Moments{averages[0][c], averages[1][c]} : of_column(x, c, width);
    for (std::size_t i = c; i < x.size(); i += width) {
      x[i] = gamma[c] * (x[i] - m.mean) / std::sqrt(m.variance + epsilon) + beta[c];
      x[i] = x[i] > 0 ? x[i] : 0;
    }
  }
  return linear(x, width, p[2], p[3]);
}

TEST_CASE("BatchNormMlp: batch norm and relu after each hidden layer, none after the last") {
  for (const Recipe& recipe : {f64_recipe, recipes::fp32, recipes::fp16_master}) {
    Rng rng(4);
    const nn::BatchNormMlp model({20, 9, 4}, recipe, rng);
    const std::vector<Tensor> p = tensors(model.parameters()), averages = model.buffers();
    REQUIRE(p.size() == 6);
    REQUIRE(averages.size() == 2);
    CHECK(model.name() == "batch norm mlp 20-9-4");
    const Tensor x = drawn({30, 20}, 5, 0, 1);
    const double tolerance = recipe.compute == DType::f64   ? 1e-12
                             : recipe.compute == DType::f32 ? 1e-5
                                                            : 2e-2;
    const auto check = [&](const Tensor& y, const Values& exact) {
      CHECK(y.dtype() == recipe.compute);
      const Values got = y.to_doubles();
      REQUIRE(got.size() == exact.size());
      for (std::size_t i = 0; i < got.size(); ++i)
        REQUIRE(std::fabs(got[i] - exact[i]) <= tolerance * std::max(1.0, std::fabs(exact[i])));
    };
    Tensor trained;
    {
      Tape tape;
      trained = model(x);
    }
    check(trained, network(x.to_doubles(), 20, p, nullptr));
    const Values kept[] = {averages[0].to_doubles(), averages[1].to_doubles()};
    check(model(x), network(x.to_doubles(), 20, p, kept));
  }
}

TEST_CASE("BatchNormMlp: gradients of every parameter are those of finite differences") {
  Rng rng(6);
  const nn::BatchNormMlp model({20, 9, 7, 4}, f64_recipe, rng);
  REQUIRE(model.parameters().size() == 10);
  const Tensor x = drawn({8, 20}, 7, 0, 1);
  const std::vector<std::int32_t> labels{1, 0, 3, 2, 1, 1, 0, 2};
  const auto loss = [&] {
    if (Tape::current() != nullptr) return cross_entropy(model(x), labels);
    Tape batch_statistics;  // also where the differences are taken
    return cross_entropy(model(x), labels);
  };
  // The bias before batch norm is subtracted again with the mean: its gradient is 0, but for rounding.
  const GradientReport report = check_gradients(loss, tensors(model.parameters()), {.entries = 25});
  INFO(report);
  CHECK(report.error < 1e-6);
}

TEST_CASE("copy_parameters takes over the running averages, too") {
  Rng rng(8);
  const nn::BatchNormMlp from({20, 9, 4}, recipes::fp32, rng), to({20, 9, 4}, recipes::fp16_master, rng);
  {
    Tape tape;
    from(drawn({30, 20}, 9, 0, 1));
  }
  nn::copy_parameters(from, to);
  for (const std::size_t i : {0u, 1u}) CHECK(to.buffers()[i].to_floats() == from.buffers()[i].to_floats());
  CHECK(to.buffers()[0].id() != from.buffers()[0].id());
  CHECK(from.buffers()[0].to_floats() != std::vector<float>(9, 0));
}

}  // namespace
}  // namespace tinymp::test
