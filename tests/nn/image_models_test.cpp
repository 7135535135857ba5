#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/finite_differences.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/nn/deep_mlp.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/resnet.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <cmath>
#include <set>

/// The convolutional models against the same networks written down in double, and small trainings.
namespace tinymp::test {
namespace {

constexpr Recipe f64_recipe{.compute = DType::f64, .gradient = DType::f64, .master = DType::f64};

using Values = std::vector<double>;

Tensor images(std::int64_t B, std::int64_t pixels, std::uint64_t seed = 11) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(B * pixels));
  for (float& v : values) v = rng.uniform(0, 1);
  return Tensor::from({B, pixels}, values);
}

/// One image (size,size,channels) in double.
struct Picture {
  std::size_t size, channels;
  Values values;
  double at(std::size_t h, std::size_t w, std::size_t c) const {
    return h < size && w < size ? values[(h * size + w) * channels + c] : 0;  // -1 is far beyond the size
  }
};

Picture convolved(const Picture& x, const Tensor& w, std::size_t stride, std::size_t padding) {
  const auto k = static_cast<std::size_t>(w.shape()[0]), outputs = static_cast<std::size_t>(w.shape()[3]);
  const Values weight = w.to_doubles();
  Picture y{(x.size + 2 * padding - k) / stride + 1, outputs, {}};
  for (std::size_t i = 0; i < y.size * y.size; ++i) {
    for (std::size_t o = 0; o < outputs; ++o) {
      double sum = 0;
      for (std::size_t tap = 0; tap < k * k; ++tap) {
        for (std::size_t c = 0; c < x.channels; ++c) {
          sum += x.at(i / y.size * stride + tap / k - padding, i % y.size * stride + tap % k - padding, c) *
                 weight[(tap * x.channels + c) * outputs + o];
        }
      }
      y.values.push_back(sum);
    }
  }
  return y;
}

/// f(value, channel) everywhere.
template <class F>
Picture each(Picture x, F f) {
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = f(x.values[i], i % x.channels);
  return x;
}
Picture rectified(Picture x) {
  return each(std::move(x), [](double v, std::size_t) { return v > 0 ? v : 0; });
}
Picture halved(const Picture& x) {
  Picture y{x.size / 2, x.channels, {}};
  for (std::size_t h = 0; h < y.size; ++h) {
    for (std::size_t w = 0; w < y.size; ++w) {
      for (std::size_t c = 0; c < x.channels; ++c) {
        y.values.push_back(std::max({x.at(2 * h, 2 * w, c), x.at(2 * h, 2 * w + 1, c),
                                     x.at(2 * h + 1, 2 * w, c), x.at(2 * h + 1, 2 * w + 1, c)}));
      }
    }
  }
  return y;
}
Values linear(const Values& x, const Tensor& w, const Tensor& b) {
  Values y = b.to_doubles();
  const Values weight = w.to_doubles();
  for (std::size_t o = 0; o < y.size(); ++o) {
    for (std::size_t i = 0; i < x.size(); ++i) y[o] += x[i] * weight[i * y.size() + o];
  }
  return y;
}

double tolerance_of(const Recipe& recipe) {
  return recipe.compute == DType::f64 ? 1e-12 : recipe.compute == DType::f32 ? 1e-5 : 2e-2;
}

/// The model's answer to each of 3 images is that of `network`, written in double.
template <class Network>
void check_model(const nn::Model& model, std::size_t size, const Recipe& recipe, Network network) {
  const Tensor x = images(3, static_cast<std::int64_t>(size * size));
  const Values got = model(x).to_doubles(), in = x.to_doubles();
  REQUIRE(got.size() == 30);
  for (std::size_t b = 0; b < 3; ++b) {
    const auto begin = in.begin() + static_cast<std::ptrdiff_t>(b * size * size);
    const Values expected =
        network(Picture{size, 1, {begin, begin + static_cast<std::ptrdiff_t>(size * size)}});
    for (std::size_t i = 0; i < 10; ++i) {
      INFO(model.name() << ", image " << b << ", logit " << i << ": " << got[10 * b + i] << ", expected "
                        << expected[i]);
      CHECK(std::fabs(got[10 * b + i] - expected[i]) <=
            tolerance_of(recipe) * std::max(1.0, std::fabs(expected[i])));
    }
  }
}

TEST_CASE("LeNet: two convolutions with pools, three linear layers") {
  for (const Recipe& recipe : {f64_recipe, recipes::fp32, recipes::fp16_master}) {
    Rng rng(1);
    const nn::LeNet model(recipe, rng);
    const std::vector<Tensor> p = tensors(model.parameters());
    REQUIRE(p.size() == 10);
    std::int64_t values = 0;
    for (const Tensor& t : p) values += t.size();
    CHECK(values == 61706);  // 156 + 2416 + 48120 + 10164 + 850
    check_model(model, 28, recipe, [&](const Picture& image) {
      const auto layer = [](const Picture& x, const Tensor& w, const Tensor& b, std::size_t padding) {
        const Values bias = b.to_doubles();
        return halved(rectified(
            each(convolved(x, w, 1, padding), [&](double v, std::size_t c) { return v + bias[c]; })));
      };
      const Picture y = layer(layer(image, p[0], p[1], 2), p[2], p[3], 0);
      const auto relu_of = [](Values x) { return rectified(Picture{1, x.size(), std::move(x)}).values; };
      return linear(relu_of(linear(relu_of(linear(y.values, p[4], p[5])), p[6], p[7])), p[8], p[9]);
    });
  }
}

/// norm(conv(x)) by the running averages.
Picture normalized(const Picture& x, const Tensor* p, const Tensor* averages, std::size_t stride) {
  const Values gamma = p[1].to_doubles(), beta = p[2].to_doubles();
  const Values mean = averages[0].to_doubles(), variance = averages[1].to_doubles();
  return each(convolved(x, p[0], stride, 1), [&](double v, std::size_t c) {
    return gamma[c] * (v - mean[c]) / std::sqrt(variance[c] + 1e-5) + beta[c];
  });
}

TEST_CASE("ResNet: every block adds to what it was given, subsampled and filled up where shapes change") {
  for (const Recipe& recipe : {f64_recipe, recipes::fp32, recipes::fp16_master}) {
    Rng rng(2);
    const nn::ResNet model(1, {.size = 9}, recipe, rng);
    CHECK(model.name() == "resnet8");
    for (const std::uint64_t seed : {1u, 2u, 3u}) {  // moves the averages
      Tape tape;
      model(images(6, 81, seed));
    }
    const std::vector<Tensor> p = tensors(model.parameters()), averages = model.buffers();
    REQUIRE(p.size() == 3 * 7 + 2);
    REQUIRE(averages.size() == 2 * 7);
    check_model(model, 9, recipe, [&](const Picture& image) {
      Picture x = rectified(normalized(image, &p[0], &averages[0], 1));
      for (std::size_t block = 0; block < 3; ++block) {
        const std::size_t stride = block == 0 ? 1 : 2, first = 1 + 2 * block;
        const Picture inner = rectified(normalized(x, &p[3 * first], &averages[2 * first], stride));
        Picture y = normalized(inner, &p[3 * first + 3], &averages[2 * first + 2], 1);
        for (std::size_t i = 0; i < y.size * y.size; ++i) {
          for (std::size_t c = 0; c < x.channels; ++c)
            y.values[i * y.channels + c] += x.at(i / y.size * stride, i % y.size * stride, c);
        }
        x = rectified(y);
      }
      Values means(x.channels, 0.0);
      for (std::size_t i = 0; i < x.values.size(); ++i)
        means[i % x.channels] += x.values[i] / static_cast<double>(x.size * x.size);
      return linear(means, p[21], p[22]);
    });
  }
}

TEST_CASE("ResNet-20 has the size that is published, and takes colours") {
  Rng rng(3);
  const nn::ResNet model(3, {.size = 32, .channels = 3}, recipes::fp32, rng);
  CHECK(model.name() == "resnet20");
  std::int64_t values = 0;
  for (const Tensor& t : tensors(model.parameters())) values += t.size();
  CHECK(values == 269722);  // 0.27 M: table 6
  CHECK(model(images(1, 3072)).shape() == Shape{1, 10});
  CHECK_SAYS("reshape: 784 values", model(images(1, 784)));
  CHECK_SAYS("0 blocks a stage", nn::ResNet(0, {}, recipes::fp32, rng));
}

TEST_CASE("ResNet hands the options of its batch norms on to each of them") {
  Rng rng(3), same(3);
  const nn::ResNet exact(1, {.size = 8}, recipes::fp32, rng);
  const nn::ResNet blunt(1, {.size = 8}, recipes::fp32, same, {.epsilon = 1e30f});  // they answer 0
  const Tape tape;
  const Tensor x = images(1, 64);
  const std::vector<float> bias = blunt.parameters().back().value.to_floats();  // all that is left
  const std::vector<float> y = blunt(x).to_floats();
  for (std::size_t i = 0; i < bias.size(); ++i) CHECK(std::abs(y[i] - bias[i]) < 1e-9f);
  CHECK(std::abs(exact(x).to_floats()[0] - bias[0]) > 1e-3f);
}

TEST_CASE("every parameter of a model has a name of its own, which says what it is") {
  Rng rng(1);
  const nn::Mlp mlp({784, 12, 10}, {}, rng);
  const nn::BatchNormMlp normed({784, 12, 11, 10}, {}, rng);
  const nn::ResidualMlp residual(8, 2, {}, rng);
  const nn::LeNet lenet({}, rng);
  const nn::ResNet resnet(1, {}, {}, rng);
  const auto names_of = [](const nn::Model& model) {
    std::vector<std::string> names;
    for (const nn::Parameter& p : model.parameters()) names.push_back(p.name);
    return names;
  };
  CHECK(names_of(mlp) ==
        std::vector<std::string>{"layer 1 weight", "layer 1 bias", "layer 2 weight", "layer 2 bias"});
  CHECK(names_of(lenet)[0] == "layer 1 weight");
  CHECK(names_of(lenet)[9] == "layer 5 bias");
  CHECK(names_of(normed)[4] == "layer 3 weight");
  CHECK(names_of(normed)[7] == "norm 1 beta");
  CHECK(names_of(residual)[4] == "block 1 second weight");
  CHECK(names_of(resnet)[3 + 6] == "block 2 first weight");
  for (const nn::Model* model :
       std::initializer_list<const nn::Model*>{&mlp, &normed, &residual, &lenet, &resnet}) {
    INFO(model->name());
    const std::vector<std::string> names = names_of(*model);
    CHECK(std::set<std::string>(names.begin(), names.end()).size() == names.size());
    for (const auto& [name, value] : model->parameters()) {
      const std::string which = name.substr(name.rfind(' ') + 1);
      const bool is_one = value.size() == 0 || value.to_floats()[0] == 1;
      const bool is_gamma = is_one && value.shape().rank() == 1;
      CHECK((which == "weight") == (value.shape().rank() > 1));
      CHECK((which == "gamma") == is_gamma);
    }
  }
}

TEST_CASE("convolutional models: gradients of every parameter are those of finite differences") {
  const auto check = [](const nn::Model& model, const Tensor& x, std::int64_t entries) {
    const std::vector<std::int32_t> labels{1, 0, 3};
    const auto loss = [&] {
      if (Tape::current() != nullptr) return cross_entropy(model(x), labels);
      Tape batch_statistics;  // also where the differences are taken
      return cross_entropy(model(x), labels);
    };
    const GradientReport report =
        check_gradients(loss, tensors(model.parameters()),
                        {.step = 0x1p-24, .entries = entries});  // a larger step meets kinks
    INFO(model.name() << ": " << report);
    CHECK(report.error < 1e-6);
  };
  Rng rng(4);
  check(nn::LeNet(f64_recipe, rng), images(3, 784), 2);
  check(nn::ResNet(1, {.size = 5}, f64_recipe, rng), images(3, 25), 2);
}

/// A few steps on the same images, each class of which lights a row of its own.
struct Training {
  std::vector<double> losses;
  std::vector<float> weights;
};
Training trained(const nn::Model& model, const Recipe& recipe, std::int64_t size, int steps, float lr) {
  Sgd optimizer(tensors(model.parameters()), {.lr = lr, .momentum = 0.9f}, recipe);
  LossScaler scaler(recipe.scaling);
  const Tensor x = images(20, size * size);
  std::vector<std::int32_t> labels;
  for (std::int64_t b = 0; b < 20; ++b) {
    labels.push_back(static_cast<std::int32_t>(b % 10));
    for (std::int64_t i = 0; i < size; ++i) x.data<float>()[(b * size + b % 10 * size / 10) * size + i] += 2;
  }
  Training run;
  for (int step = 0; step < steps; ++step) {
    {
      Tape tape;
      const Tensor loss = cross_entropy(model(x), labels);
      run.losses.push_back(loss.item());
      tape.backward(scaler.scale(loss));
    }
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  run.weights = optimizer.weights().to_floats();
  return run;
}

Training trained_lenet(const Recipe& recipe, int steps) {
  Rng rng(5);
  return trained(nn::LeNet(recipe, rng), recipe, 28, steps, 0.02f);
}
Training trained_resnet(const Recipe& recipe, int steps) {
  Rng rng(5);
  return trained(nn::ResNet(1, {.size = 12}, recipe, rng), recipe, 12, steps, 0.05f);
}

Recipe fp16_recipe() {
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 1024};
  return recipe;
}

TEST_CASE("convolutional models learn a few images, in FP32 and in FP16 with a scaled loss") {
  for (const Recipe& recipe : {recipes::fp32, fp16_recipe()}) {
    const std::vector<double> lenet = trained_lenet(recipe, 60).losses;
    INFO("lenet, " << describe(recipe) << ": " << lenet.front() << " to " << lenet.back());
    CHECK(lenet.back() < 0.1 * lenet.front());
    const std::vector<double> resnet = trained_resnet(recipe, 20).losses;
    INFO("resnet, " << describe(recipe) << ": " << resnet.front() << " to " << resnet.back());
    CHECK(resnet.back() < 0.1 * resnet.front());
  }
}

TEST_CASE("convolutional models: any number of threads trains the same weights") {
  const int usual = threads();
  for (const Recipe& recipe : {recipes::fp32, fp16_recipe()}) {
    set_threads(1);
    const Training lenet = trained_lenet(recipe, 2), resnet = trained_resnet(recipe, 2);
    for (const int count : {2, 7}) {
      set_threads(count);
      INFO(count << " threads, " << describe(recipe));
      CHECK(trained_lenet(recipe, 2).weights == lenet.weights);
      CHECK(trained_resnet(recipe, 2).weights == resnet.weights);
    }
  }
  set_threads(usual);
}

TEST_CASE("Conv2d: first weights, options, what it refuses") {
  Rng rng(6);
  const nn::Conv2d layer({.inputs = 3, .outputs = 8, .size = 5, .stride = 2, .padding = 1},
                         recipes::fp16_master, rng);
  CHECK(layer.weight.shape() == Shape{5, 5, 3, 8});
  CHECK(layer.weight.dtype() == DType::f16);
  const std::vector<float> w = layer.weight.to_floats();
  const float bound = 1 / std::sqrt(75.0f);
  CHECK(*std::max_element(w.begin(), w.end()) <= bound);
  CHECK(*std::max_element(w.begin(), w.end()) > 0.9f * bound);
  CHECK(layer(cast(Tensor::from({1, 7, 7, 3}, std::vector<float>(147, 1.0f)), DType::f16)).shape() ==
        Shape{1, 3, 3, 8});
  const nn::Conv2d bare({.inputs = 1, .outputs = 1, .size = 1, .bias = false}, recipes::fp32, rng);
  CHECK_FALSE(static_cast<bool>(bare.bias));
  CHECK_SAYS("Conv2d: 0 inputs", nn::Conv2d({.inputs = 0, .outputs = 1, .size = 1}, {}, rng));
}

}  // namespace
}  // namespace tinymp::test
