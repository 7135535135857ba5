#include <tinymp/nn/layers.h>

#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/ops/gradients.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/finite_differences.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/first_bad.h>
#include <cmath>

/// The layer against the equations of the papers, written down in double value by value, forward and
/// backward through time; and the language model over it.
namespace tinymp::test {
namespace {

constexpr Recipe f64_recipe{.compute = DType::f64, .gradient = DType::f64, .master = DType::f64};

using Values = std::vector<double>;

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

/// One text through the layer, and back: Gers et al. 2000, without peepholes.
struct Reference {
  std::size_t I, H, T;
  Values wx, wh, b;     // (I,4H), (H,4H), (4H)
  Values dwx, dwh, db;  // summed over texts
  struct Moment {
    Values x, h_before, c_before, i, f, g, o, c, h;
  };

  explicit Reference(const nn::Lstm& layer, std::int64_t steps)
      : I(static_cast<std::size_t>(layer.from_input.shape()[0])),
        H(static_cast<std::size_t>(layer.hidden())),
        T(static_cast<std::size_t>(steps)),
        wx(layer.from_input.to_doubles()),
        wh(layer.from_state.to_doubles()),
        b(layer.bias.to_doubles()),
        dwx(wx.size()),
        dwh(wh.size()),
        db(b.size()) {}

  std::vector<Moment> forward(const double* x) const {
    std::vector<Moment> moments;
    Values h(H), c(H);
    for (std::size_t t = 0; t < T; ++t) {
      Moment m{{x + t * I, x + (t + 1) * I}, h, c, Values(H), Values(H), Values(H), Values(H), {}, {}};
      for (std::size_t k = 0; k < H; ++k) {
        double z[4];
        for (std::size_t gate = 0; gate < 4; ++gate) {
          const std::size_t column = gate * H + k;
          z[gate] = b[column];
          for (std::size_t n = 0; n < I; ++n) z[gate] += m.x[n] * wx[n * 4 * H + column];
          for (std::size_t n = 0; n < H; ++n) z[gate] += m.h_before[n] * wh[n * 4 * H + column];
        }
        m.i[k] = logistic(z[0]);
        m.f[k] = logistic(z[1]);
        m.g[k] = std::tanh(z[2]);
        m.o[k] = logistic(z[3]);
        c[k] = m.f[k] * m.c_before[k] + m.i[k] * m.g[k];
        h[k] = m.o[k] * std::tanh(c[k]);
      }
      m.c = c;
      m.h = h;
      moments.push_back(m);
    }
    return moments;
  }

  /// dx:(T,I) of dh:(T,H); adds to dwx, dwh and db.
  Values backward(const std::vector<Moment>& moments, const double* dh_of) {
    Values dx(T * I), dh(H), dc(H);
    for (std::size_t t = T; t-- > 0;) {
      const Moment& m = moments[t];
      Values dz(4 * H), dh_before(H);
      for (std::size_t k = 0; k < H; ++k) {
        const double d = dh[k] + dh_of[t * H + k], squashed = std::tanh(m.c[k]);
        dc[k] += d * m.o[k] * (1 - squashed * squashed);
        dz[k] = dc[k] * m.g[k] * m.i[k] * (1 - m.i[k]);
        dz[H + k] = dc[k] * m.c_before[k] * m.f[k] * (1 - m.f[k]);
        dz[2 * H + k] = dc[k] * m.i[k] * (1 - m.g[k] * m.g[k]);
        dz[3 * H + k] = d * squashed * m.o[k] * (1 - m.o[k]);
        dc[k] *= m.f[k];
      }
      for (std::size_t column = 0; column < 4 * H; ++column) {
        db[column] += dz[column];
        for (std::size_t n = 0; n < I; ++n) {
          dwx[n * 4 * H + column] += m.x[n] * dz[column];
          dx[t * I + n] += wx[n * 4 * H + column] * dz[column];
        }
        for (std::size_t n = 0; n < H; ++n) {
          dwh[n * 4 * H + column] += m.h_before[n] * dz[column];
          dh_before[n] += wh[n * 4 * H + column] * dz[column];
        }
      }
      dh = dh_before;
    }
    return dx;
  }
};

Tensor drawn(Shape shape, std::uint64_t seed, DType dtype) {
  Rng rng(seed);
  std::vector<float> values(static_cast<std::size_t>(shape.size()));
  for (float& v : values) v = rng.uniform(-1, 1);
  return cast(Tensor::from(shape, values), dtype);
}

void check_close(const char* what, const Values& got, const Values& exact, double tolerance) {
  REQUIRE(got.size() == exact.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    INFO(what << ", value " << i << ": " << got[i] << ", expected " << exact[i]);
    REQUIRE(std::fabs(got[i] - exact[i]) <= tolerance * std::max(1.0, std::fabs(exact[i])));
  }
}

void check_layer(const Recipe& recipe, double tolerance) {
  constexpr std::int64_t B = 3, T = 5, I = 4, H = 6;
  Rng rng(1);
  const nn::Lstm layer(I, H, recipe, rng);
  Rng biases(2);  // of 0 and 1 the sums of a mistaken gate may look right
  const Values ones = layer.bias.to_doubles();
  std::vector<float> values;
  for (const double v : ones) values.push_back(static_cast<float>(v) + biases.uniform(-1, 1));
  kernels::cast(Tensor::from({4 * H}, values).view(), layer.bias.view());
  const Tensor x = drawn({B * T, I}, 3, recipe.compute).set_requires_grad(true);
  const Tensor dy = drawn({B * T, H}, 4, recipe.compute);

  Tensor y;
  {
    Tape tape;
    y = layer(x, T);
    tape.backward(record("upstream", {y}, Tensor::from(Shape{}, std::vector<float>{0}),
                         [dy](const Tensor&, const Needs&) { return std::vector{dy}; }));
  }
  Reference exact(layer, T);
  const Values in = x.to_doubles(), errors = dy.to_doubles();
  Values said, dx;
  for (std::size_t text = 0; text < B; ++text) {
    const std::vector<Reference::Moment> moments = exact.forward(in.data() + text * T * I);
    for (const Reference::Moment& m : moments) said.insert(said.end(), m.h.begin(), m.h.end());
    const Values back = exact.backward(moments, errors.data() + text * T * H);
    dx.insert(dx.end(), back.begin(), back.end());
  }
  CHECK(y.dtype() == recipe.compute);
  check_close("h", y.to_doubles(), said, tolerance);
  check_close("dx", x.grad().to_doubles(), dx, tolerance);
  check_close("gradient of from_input", layer.from_input.grad().to_doubles(), exact.dwx, tolerance);
  check_close("gradient of from_state", layer.from_state.grad().to_doubles(), exact.dwh, tolerance);
  check_close("gradient of bias", layer.bias.grad().to_doubles(), exact.db, tolerance);
}

TEST_CASE("Lstm: five steps, forward and backward, are those of the equations in double") {
  check_layer(f64_recipe, 1e-12);
  check_layer(recipes::fp32, 1e-5);
  check_layer(recipes::fp16_master, 2e-2);
}

TEST_CASE("Lstm: shapes and first values, and it refuses what is no text") {
  Rng rng(1);
  const nn::Lstm layer(3, 2, recipes::fp16_master, rng);
  CHECK(layer.from_input.shape() == Shape{3, 8});
  CHECK(layer.from_state.shape() == Shape{2, 8});
  CHECK(layer.bias.to_doubles() == Values{0, 0, 1, 1, 0, 0, 0, 0});
  CHECK(layer.hidden() == 2);
  for (const Tensor& w : {layer.from_input, layer.from_state, layer.bias}) {
    CHECK(w.dtype() == DType::f16);
    CHECK(w.requires_grad());
    for (const double v : w.to_doubles()) CHECK(std::fabs(v) <= 1);
  }
  CHECK_SAYS("Lstm: 0 inputs and a width of 2", nn::Lstm(0, 2, {}, rng));
  CHECK_SAYS("Lstm: x(5, 3) is not texts of 2 steps", layer(drawn({5, 3}, 1, DType::f16), 2));
  CHECK_SAYS("Lstm: x(4, 3) is not texts of 0 steps", layer(drawn({4, 3}, 1, DType::f16), 0));
}

TEST_CASE("Lstm: texts do not see each other, nor a step what follows it") {
  Rng rng(5);
  const nn::Lstm layer(4, 6, recipes::fp32, rng);
  const Tensor x = drawn({3 * 5, 4}, 6, DType::f32);
  const std::vector<float> y = layer(x, 5).to_floats();
  std::vector<float> other = x.to_floats();
  other[(5 + 3) * 4] += 1;  // the fourth step of the second text
  const std::vector<float> z = layer(Tensor::from(x.shape(), other), 5).to_floats();
  for (std::size_t row = 0; row < 15; ++row) {
    bool same = true;
    for (std::size_t k = 0; k < 6; ++k) same = same && y[row * 6 + k] == z[row * 6 + k];
    INFO("row " << row);
    CHECK(same == (row != 8 && row != 9));
  }
}

const std::vector<std::int32_t> tokens{1, 4, 4, 0, 2, 9, 3, 3, 8, 1, 0, 7},
    next{4, 4, 0, 5, 9, 3, 3, 8, 1, 0, 7, 6};

TEST_CASE("LanguageModel: parameters and their names, and gradients of finite differences") {
  Rng rng(7);
  const nn::LanguageModel model(10, 5, f64_recipe, rng);
  CHECK(model.name() == "lstm language model of 10 words, 5 wide");
  const std::vector<Tensor> p = tensors(model.parameters());
  CHECK(model.parameters()[0].name == "embedding table");
  CHECK(model.parameters()[1].name == "lstm from_input");
  CHECK(model.parameters()[5].name == "out bias");
  CHECK(p[0].shape() == Shape{10, 5});
  CHECK(p[4].shape() == Shape{5, 10});
  const auto loss = [&] { return cross_entropy(model(tokens, 4), next); };
  CHECK(model(tokens, 4).shape() == Shape{12, 10});
  const GradientReport report = check_gradients(loss, p, {.entries = 200});
  INFO(report);
  CHECK(report.error < 1e-6);
}

TEST_CASE("LanguageModel: learns a text by heart, in FP32 and with FP16 and a scale") {
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic}) {
    Rng rng(8);
    const nn::LanguageModel model(10, 16, recipe, rng);
    Adam optimizer(tensors(model.parameters()), {.lr = 0.02f}, recipe);
    LossScaler scaler(recipe.scaling);
    double loss = 0;
    for (int step = 0; step < 150; ++step) {
      Tape tape;
      const Tensor of_step = cross_entropy(model(tokens, 4), next);
      tape.backward(scaler.scale(of_step));
      Gradients gradients = optimizer.gradients();
      UnscaleResult check = scaler.unscale(gradients);
      optimizer.step(gradients, check);
      scaler.update(std::move(check));
      optimizer.zero_grad();
      loss = of_step.item();
    }
    CHECK(loss < 0.05);
  }
}

TEST_CASE("LanguageModel: a watch names the layer where an infinity begins") {
  Rng rng(9);
  const nn::LanguageModel model(10, 5, recipes::fp16_master, rng);
  for (const std::size_t i : {0u, 1u}) kernels::fill(model.parameters()[i].value.view(), 300);
  NonfiniteTracer tracer(nn::names_in(model));
  {
    Tape tape(&tracer);
    tape.backward(cross_entropy(model(tokens, 4), next));
  }
  REQUIRE(tracer.first());
  CHECK(tracer.first()->op == "linear");
  CHECK(tracer.first()->where == "lstm");
}

}  // namespace
}  // namespace tinymp::test
