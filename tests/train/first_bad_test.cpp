#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/numeric/exp_log.h>
#include <tinymp/optim/adam.h>
#include <tinymp/train/first_bad.h>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <thread>

/// Ten faults, each put into a small run, and where the run says that it went wrong.
namespace tinymp::test {
namespace {

using train::Finding;
using train::Plan;
using train::Run;

constexpr double infinity = std::numeric_limits<double>::infinity();

// Ops that the library has not.
// ---------------------------------------------------------------------------------------

/// f of each value, rounded to x's format; slope(x, y) is its derivative.
template <class F, class Slope>
Tensor each(const char* op, const Tensor& x, F f, Slope slope) {
  std::vector<float> values = x.to_floats();
  for (float& v : values) v = f(v);
  const Tensor y = Tensor::from(x.shape(), values, x.dtype());
  return record(op, {x}, y, [x, y, slope](const Tensor& dy, const Needs&) {
    std::vector<float> dx = dy.to_floats();
    const std::vector<float> in = x.to_floats(), out = y.to_floats();
    for (std::size_t i = 0; i < dx.size(); ++i) dx[i] *= slope(in[i], out[i]);
    return std::vector{Tensor::from(x.shape(), dx, x.dtype())};
  });
}
Tensor exp_of(const Tensor& x) {
  return each(
      "exp", x, [](float v) { return exp(v); }, [](float, float y) { return y; });
}
Tensor log_of(const Tensor& x) {
  return each(
      "log", x, [](float v) { return log(v); }, [](float v, float) { return 1 / v; });
}
Tensor square(const Tensor& x) {
  return each(
      "square", x, [](float v) { return v * v; }, [](float v, float) { return 2 * v; });
}

/// (B,C) = x:(B,C), each row divided by its sum, which is rounded to x's format.
Tensor divide_by_sum(const Tensor& x) {
  const std::int64_t B = x.shape()[0], C = x.shape()[1];
  std::vector<float> in = x.to_floats(), out = in, sums;
  for (std::int64_t b = 0; b < B; ++b) {
    float sum = 0;
    for (std::int64_t c = 0; c < C; ++c) sum += in[static_cast<std::size_t>(b * C + c)];
    sum = Tensor::from({1}, std::vector<float>{sum}, x.dtype()).to_floats()[0];
    sums.push_back(sum);
    for (std::int64_t c = 0; c < C; ++c) out[static_cast<std::size_t>(b * C + c)] /= sum;
  }
  return record("div", {x}, Tensor::from(x.shape(), out, x.dtype()), [=](const Tensor& dy, const Needs&) {
    const std::vector<float> d = dy.to_floats();
    std::vector<float> dx(d.size());
    for (std::int64_t b = 0; b < B; ++b) {
      float dot = 0;
      for (std::int64_t c = 0; c < C; ++c)
        dot += d[static_cast<std::size_t>(b * C + c)] * out[static_cast<std::size_t>(b * C + c)];
      for (std::int64_t c = 0; c < C; ++c) {
        const auto i = static_cast<std::size_t>(b * C + c);
        dx[i] = (d[i] - dot) / sums[static_cast<std::size_t>(b)];
      }
    }
    return std::vector{Tensor::from(dy.shape(), dx, dy.dtype())};
  });
}

/// (B,1) = the sums of x's rows, rounded to x's format: what a norm of a whole image begins with.
Tensor row_sums(const Tensor& x) {
  const Tensor ones = Tensor::from(
      {x.shape()[1], 1}, std::vector<float>(static_cast<std::size_t>(x.shape()[1]), 1.0f), x.dtype());
  Tensor y;
  {
    const Tape aside;
    y = matmul(x, ones);
  }
  return record("row_sums", {x}, y, [x](const Tensor&, const Needs&) { return std::vector{x}; });
}

// A model of linear layers 784-12-10 and whatever a test does with them.
// ----------------------------------------------------

class Custom : public nn::Model {
 public:
  using Forward = std::function<Tensor(const std::vector<nn::Linear>&, const Tensor& images)>;
  Custom(const Recipe& recipe, Rng& rng, Forward forward, std::int64_t outputs = 10)
      : forward_(std::move(forward)) {
    layers_.emplace_back(784, 12, recipe, rng);
    layers_.emplace_back(12, outputs, recipe, rng);
  }
  Tensor operator()(const Tensor& images) const override { return forward_(layers_, images); }
  std::vector<Tensor> parameters() const override {
    return {layers_[0].weight, layers_[0].bias, layers_[1].weight, layers_[1].bias};
  }
  std::string name() const override { return "custom"; }

 private:
  std::vector<nn::Linear> layers_;
  Forward forward_;
};

train::ModelMaker custom(Custom::Forward forward, std::int64_t outputs = 10) {
  return
      [=](const Recipe& recipe, Rng& rng) { return std::make_unique<Custom>(recipe, rng, forward, outputs); };
}

Tensor logits_of(const std::vector<nn::Linear>& layers, const Tensor& images) {
  return layers[1](layers[0](cast(images, layers[0].weight.dtype()), Activation::relu));
}

// The rig.
// ----------------------------------------------------------------------------------------------------------

/// Runs the plan, and sees that the log holds what the run says.
std::vector<Finding> findings_of(const Plan& plan) {
  Scratch scratch;
  const Run run = train::run(plan, scratch.next());
  const Run read = train::load_run(run.path);
  CHECK(read.findings.size() == run.findings.size());
  for (std::size_t i = 0; i < std::min(read.findings.size(), run.findings.size()); ++i) {
    const Finding &a = read.findings[i], &b = run.findings[i];
    CHECK((a.kind == b.kind && a.step == b.step && a.direction == b.direction && a.where == b.where));
    CHECK((a.op == b.op && a.dtype == b.dtype && a.shape == b.shape && a.low == b.low && a.high == b.high));
    CHECK((a.value == b.value || (std::isnan(a.value) && std::isnan(b.value))));
    CHECK((a.parameter == b.parameter && a.sentence == b.sentence));
  }
  return run.findings;
}

/// The one finding of a run.
Finding finding_of(const Plan& plan, const char* kind = "first bad") {
  const std::vector<Finding> findings = findings_of(plan);
  for (const Finding& f : findings) UNSCOPED_INFO(f.kind + ": " + f.sentence);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].kind == kind);
  return findings[0];
}

void check_place(const Finding& f, std::int64_t step, const char* direction, const char* where,
                 const char* op, DType dtype) {
  CHECK(f.step == step);
  CHECK(f.direction == direction);
  CHECK(f.where == where);
  CHECK(f.op == op);
  CHECK(f.dtype == dtype);
}

/// What the run's step is given.
std::vector<float> images_of_step(const Plan& plan, std::int64_t step) {
  data::Loader loader(plan.data->train, plan.batch, Rng(plan.seed).split(1).seed());
  for (std::int64_t t = 1; t < step; ++t) loader.next();
  return loader.next().images.to_floats();
}

bool says(const Finding& f, const std::string& part) { return f.sentence.find(part) != std::string::npos; }

// Ten faults.
// -------------------------------------------------------------------------------------------------------

TEST_CASE("fault 1: a learning rate of 1e4") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 12);
  plan.optimizer = sgd(1e4f);
  const Finding f = finding_of(plan);
  check_place(f, 2, "forward", "layer 2", "linear", DType::f16);
  CHECK(std::isinf(f.value));
  CHECK(f.shape == "(16, 10)");
  CHECK(f.low < -1000);   // a bias that one update moved there
  CHECK(f.high > 20000);  // what comes out of layer 1
  CHECK(f.high <= 65504);
  CHECK(says(f, "layer 2 weight between -201 and 496 (a step before: between -0.28"));
  CHECK(says(f, "FP16 ends at 65504."));

  plan.optimizer = sgd(1e7f);  // the weight itself does not fit any more
  const Finding weight = finding_of(plan);
  check_place(weight, 1, "update", "layer 1 weight", "cast", DType::f16);
  CHECK(std::max(-weight.low, weight.high) > 65504);
  CHECK(says(weight, "the f16 copy of layer 1 weight became"));

  Plan wide =
      small_plan(data, recipes::fp32, 60);  // FP32 has room for that: it learns nothing, but is finite
  wide.optimizer = sgd(1e4f);
  CHECK(findings_of(wide).empty());
}

TEST_CASE("fault 2: a static scale of 2^24") {
  const data::Split data = made_up_split();
  for (const bool skip : {false, true}) {
    Recipe recipe = recipes::fp16_static;
    recipe.scaling = StaticScaling{.factor = 0x1p24f, .skip_nonfinite = skip};
    const Finding f = finding_of(small_plan(data, recipe, 3));
    check_place(f, 1, "backward", "after layer 2", "cross_entropy", DType::f16);
    CHECK(f.value == infinity);
    CHECK(f.low == 0x1p24);
    CHECK(f.high == 0x1p24);
    CHECK(f.parameter == "layer 2 weight");
    CHECK(says(
        f,
        "The loss was multiplied by S = 16777216. The first parameter that it reached is layer 2 weight."));
  }
}

Custom::Forward masked(float value) {
  return [value](const std::vector<nn::Linear>& layers, const Tensor& images) {
    const Shape shape{images.shape()[0], 11};
    std::vector<float> values(static_cast<std::size_t>(shape.size()), 0.0f);
    for (std::size_t i = 10; i < values.size(); i += 11)
      values[i] = value;  // an eleventh class, which is no label
    const Tensor mask = cast(Tensor::from(shape, values), DType::f16);
    return add(logits_of(layers, images), mask);
  };
}

TEST_CASE("fault 3: a mask of -1e9 in FP16") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.model = custom(masked(-1e9f), 11);
  const Finding f = finding_of(plan, "passing");
  check_place(f, 1, "forward", "before the first layer", "cast", DType::f16);
  CHECK(f.value == -infinity);
  CHECK(f.low == -1e9f);
  CHECK(f.high == 0);
  CHECK(says(f,
             "cast f32 -> f16 (before the first layer, (16, 11)) gave -infinity: -1e9 lies beyond 65504, "
             "where FP16 ends. "
             "The loss stayed finite."));

  plan.model = custom(masked(-1e4f), 11);
  CHECK(findings_of(plan).empty());
  plan.model = custom(masked(-static_cast<float>(infinity)), 11);  // that one is meant
  CHECK(findings_of(plan).empty());

  // The mask is known by the time that something else breaks.
  plan.model = custom(masked(-1e9f), 11);
  plan.optimizer = sgd(1e4f);
  const std::vector<Finding> both = findings_of(plan);
  REQUIRE(both.size() == 2);
  CHECK(both[0].kind == "passing");
  CHECK(both[1].kind == "first bad");
  check_place(both[1], 2, "forward", "layer 2", "linear", DType::f16);
}

/// The eleventh class gets -infinity. On the images `fatal` it gets `made`, and all the others but the first
/// get `others`, unless that is 0.
Custom::Forward masking(std::vector<float> fatal, float made, float others) {
  return [=](const std::vector<nn::Linear>& layers, const Tensor& images) {
    const Tensor y = logits_of(layers, images);
    const bool is_fatal = images.to_floats() == fatal;
    std::vector<float> values = y.to_floats();
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i % 11 == 10) values[i] = is_fatal ? made : -static_cast<float>(infinity);
      if (is_fatal && others != 0 && i % 11 % 10 != 0) values[i] = others;
    }
    return record("mask", {y}, Tensor::from(y.shape(), values, y.dtype()),
                  [](const Tensor& dy, const Needs&) { return std::vector{dy}; });
  };
}

TEST_CASE("an op that is known for an infinity which did no harm can break the loss later") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 10);
  const auto lowest = -static_cast<float>(infinity);
  const std::vector<float> fatal = images_of_step(plan, 7);
  for (const bool nan : {true, false}) {  // either a NaN, or -infinity for the labels as well
    plan.model = custom(nan ? masking(fatal, std::nanf(""), 0) : masking(fatal, lowest, lowest), 11);
    const std::vector<Finding> found = findings_of(plan);
    REQUIRE(found.size() == 2);
    CHECK(found[0].kind == "passing");
    check_place(found[0], 1, "forward", "after layer 2", "mask", DType::f32);
    CHECK(found[1].kind == "first bad");
    check_place(found[1], 7, "forward", "after layer 2", "mask", DType::f32);
    CHECK(std::isnan(found[1].value) == nan);
  }
}

TEST_CASE("fault 4: the log of 0") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 3);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    return log_of(relu(logits_of(layers, images)));
  });
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after layer 2", "log", DType::f32);
  CHECK(f.value == -infinity);
  CHECK(f.low == 0);
  CHECK(f.high > 0.1);
  CHECK(f.high < 1);
  CHECK_FALSE(says(f, "ends at"));  // nothing overflowed
}

Custom::Forward naive_softmax(float temperature) {
  return [temperature](const std::vector<nn::Linear>& layers, const Tensor& images) {
    return log_of(divide_by_sum(exp_of(scale(logits_of(layers, images), 1 / temperature))));
  };
}

TEST_CASE("fault 5: softmax by its formula, in FP16") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 400);
  plan.model = custom(naive_softmax(0.02f));
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after layer 2", "exp", DType::f16);
  CHECK(f.value == infinity);
  CHECK(f.high > 11.09);  // e^11.09 = 65504
  CHECK(f.low < 0);

  // In time it breaks without a temperature too: a probability becomes 0.
  plan.model = custom(naive_softmax(1));
  plan.optimizer = sgd(0.1f, 0.9f);
  const Finding later = finding_of(plan);
  check_place(later, 20, "forward", "after layer 2", "log", DType::f16);
  CHECK(later.low == 0);
  CHECK(later.high <= 1);
  plan.recipe = recipes::fp32;
  CHECK(findings_of(plan).empty());
}

TEST_CASE("fault 6: Adam's eps of 1e-8 with FP16 state") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_master;
  recipe.state = DType::f16;
  Plan plan = small_plan(data, recipe, 20);
  const auto adam = [](float epsilon) -> train::OptimizerMaker {
    return [epsilon](std::vector<Tensor> parameters, const Recipe& r) {
      return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = 1e-3f, .epsilon = epsilon}, r);
    };
  };
  plan.optimizer = adam(static_cast<float>(half(1e-8f)));  // an eps that is kept in FP16 as well is 0
  for (const std::int64_t steps : {20, 1}) {               // the last step has no loss after it
    plan.steps = steps;
    const Finding f = finding_of(plan);
    check_place(f, 1, "update", "layer 1 weight", "Adam", DType::f32);
    CHECK(f.shape == "(784, 12)");
    CHECK(std::isinf(f.value));
    CHECK(f.low < 0);
    CHECK(f.low > -0.1);
    CHECK(f.high > 0);
    CHECK(f.high < 0.1);
    CHECK(says(f, "and 0 in FP16: the update divides by the root of the second."));
  }
  // Here eps is FP32 and 1e-8. That divides too, and the weights fly away.
  plan.steps = 20;
  plan.optimizer = adam(1e-8f);
  const Finding f = finding_of(plan);
  check_place(f, 2, "forward", "layer 2", "linear", DType::f16);
  CHECK(says(f, "layer 2 weight between -536 and 505 (a step before: between -0.28"));
  plan.optimizer = adam(1e-4f);
  CHECK(findings_of(plan).empty());
}

TEST_CASE("a second moment that FP16 cannot hold stops its weight, and no loss shows it") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp32;
  recipe.state = DType::f16;
  Plan plan = small_plan(data, recipe, 10);
  int calls = 0;
  plan.model = custom([&](const std::vector<nn::Linear>& layers, const Tensor& images) {
    const Tensor y = scale(logits_of(layers, images), ++calls == 141 ? std::nanf("") : 1.0f);
    return each(
        "steep", y, [](float v) { return v; }, [](float, float) { return 1e5f; });
  });
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& r) {
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = 1e-3f}, r);
  };
  const Finding f = finding_of(plan, "passing");
  check_place(f, 1, "update", "layer 2 bias", "Adam", DType::f16);
  CHECK(f.value == infinity);
  CHECK(f.high > 8100);  // 0.001 x 8100^2 = 65610
  CHECK(says(f, "Adam made infinity of the second moment of layer 2 bias"));

  // Once it is known, it is not what broke the loss later. (That was a NaN that the twin does not get to
  // see.)
  calls = 0;
  plan.steps = 145;
  const std::vector<Finding> both = findings_of(plan);
  REQUIRE(both.size() == 2);
  CHECK(both[0].sentence == f.sentence);
  CHECK(both[1].kind == "first bad");
  CHECK(both[1].step == 140);
  CHECK(both[1].direction.empty());
}

TEST_CASE("fault 7: batch norm summed in FP16") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 130);
  plan.batch = 96;
  const auto norm = [](DType sums) -> train::ModelMaker {
    return [sums](const Recipe& recipe, Rng& rng) {
      return std::make_unique<nn::BatchNormMlp>(std::vector<std::int64_t>{784, 12, 10}, recipe, rng,
                                                Accumulation{.format = sums});
    };
  };
  plan.pixels.scale = data::PixelScale::raw;
  plan.model = norm(DType::f16);
  plan.optimizer = sgd(10);
  const std::vector<Finding> found = findings_of(plan);
  REQUIRE(found.size() == 2);
  // The squares do not fit, and x / sqrt(infinity) = 0 hides it ...
  CHECK(found[0].kind == "passing");
  check_place(found[0], 1, "forward", "after layer 1", "batch_norm: variance summed in f16", DType::f32);
  CHECK(found[0].value == infinity);
  CHECK(found[0].low < -80);
  CHECK(found[0].high > 80);
  CHECK(says(found[0], "FP16 ends at 65504. The loss stayed finite."));
  // ... and then the values themselves.
  CHECK(found[1].kind == "first bad");
  check_place(found[1], 2, "forward", "after layer 1", "batch_norm: mean summed in f16", DType::f32);

  // Where no step's loss shows it, the running variance does: it is looked at after 128 steps, or at the end.
  plan.pixels.scale = data::PixelScale::unit;
  for (const std::int64_t steps : {130, 5}) {
    plan.steps = steps;
    const Finding f = finding_of(plan, "passing");
    check_place(f, 2, "forward", "after layer 1", "batch_norm: variance summed in f16", DType::f32);
    CHECK(f.high > 100);
  }
  plan.model = norm(DType::f32);
  CHECK(findings_of(plan).empty());
}

TEST_CASE("fault 8: the squares of pixels from 0 to 255") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.pixels.scale = data::PixelScale::raw;
  const auto with_norm = [](float shrink) {
    return custom([shrink](const std::vector<nn::Linear>& layers, const Tensor& images) {
      const Tensor y = logits_of(layers, images);
      const Tensor of_image = row_sums(square(scale(cast(images, DType::f16), shrink)));
      const Tensor ones = Tensor::from({1, 10}, std::vector<float>(10, 1), DType::f16);
      return add(y, matmul(of_image, ones));
    });
  };
  plan.model = with_norm(1);
  plan.optimizer = sgd(1e-6f);
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after layer 2", "row_sums",
              DType::f16);  // 220 squared fits, their sum does not
  CHECK(f.value == infinity);
  CHECK(f.low == 0);
  CHECK(f.high == 48384);  // 48400 in FP16
  CHECK(f.shape == "(16, 1)");
  plan.model = with_norm(2);
  const Finding squares = finding_of(plan);
  check_place(squares, 1, "forward", "after layer 2", "square", DType::f16);
  CHECK(squares.high == 440);
  plan.model = with_norm(1.0f / 64);
  CHECK(findings_of(plan).empty());
}

TEST_CASE("fault 9: a residual net too deep for FP16's forward range") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_dynamic, 3);
  plan.model = [](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::ResidualMlp>(32, 24, recipe, rng);
  };
  const Finding f = finding_of(plan);
  check_place(f, 1, "forward", "after block 20 second", "add", DType::f16);
  CHECK(std::isinf(f.value));
  CHECK(f.low < -50000);
  CHECK(f.low >= -65504);
  CHECK(f.high > 40000);
}

TEST_CASE("fault 10: an infinite value in one input image") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    std::vector<float> pixels = images.to_floats();
    pixels[5 * 784 + 14 * 28 + 3] = static_cast<float>(infinity);
    return logits_of(layers, Tensor::from(images.shape(), pixels));
  });
  const Finding f = finding_of(plan);
  check_place(f, 1, "input", "image 5, row 14, column 3", "cast", DType::f32);
  CHECK(f.value == infinity);
  CHECK(f.shape == "(16, 784)");
  CHECK(says(f, "before anything was computed the batch held infinity in image 5, row 14, column 3"));
}

TEST_CASE("fault 10: ... and in one channel of a coloured image") {
  data::Split data = made_up_split();
  for (data::Dataset* part : {&data.train, &data.validation, &data.test})
    part->shape = {.rows = 14, .cols = 28, .channels = 2};
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    std::vector<float> pixels = images.to_floats();
    pixels[5 * 784 + (7 * 28 + 3) * 2 + 1] = static_cast<float>(infinity);
    return logits_of(layers, Tensor::from(images.shape(), pixels));
  });
  check_place(finding_of(plan), 1, "input", "image 5, row 7, column 3, channel 1", "cast", DType::f32);
}

TEST_CASE("an infinite weight of an autoencoder's last layer is no image") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.model = [](const Recipe& recipe, Rng& rng) {
    auto model = std::make_unique<Custom>(recipe, rng, logits_of, 784);
    const Tensor weight = model->parameters()[2];  // (12, 784)
    weight.data<half>()[785] = half(static_cast<float>(infinity));
    return model;
  };
  const Finding f = finding_of(plan);
  check_place(f, 1, "input", "layer 2 weight", "linear", DType::f16);
  CHECK(
      says(f, "linear (layer 2 weight) was handed infinity that nothing computed, at place 785 of f16(12,"));
}

// When, and at what cost.
// -------------------------------------------------------------------------------------------

TEST_CASE("a fault on either side of a copy, and at its very step") {
  const data::Split data = made_up_split();
  for (const std::int64_t log_every : {1, 128, 300}) {
    Plan plan = small_plan(data, recipes::fp32, 300);
    plan.log_every = log_every;
    for (const std::int64_t step : {127, 128, 129, 256}) {
      INFO("step " << step << ", logged every " << log_every);
      const std::vector<float> fatal = images_of_step(plan, step);
      const auto at_fatal = [fatal](const Tensor& images, float then, float otherwise) {
        return images.to_floats() == fatal ? then : otherwise;
      };
      plan.optimizer = sgd(0.05f);
      plan.model = custom([=](const std::vector<nn::Linear>& layers, const Tensor& images) {
        return scale(logits_of(layers, images), at_fatal(images, static_cast<float>(infinity), 1));
      });
      const Finding lost = finding_of(plan);
      check_place(lost, step, "forward", "after layer 2", "scale", DType::f32);

      // A finite gradient whose update is infinite: only the next step's loss could show it.
      plan.optimizer = sgd(1e10f);
      plan.model = custom([=](const std::vector<nn::Linear>& layers, const Tensor& images) {
        const float slope = at_fatal(images, 1e30f, 1e-12f);
        return each(
            "steep", logits_of(layers, images), [](float v) { return v; },
            [slope](float, float) { return slope; });
      });
      const Finding update = finding_of(plan);
      CHECK(update.step == step);
      CHECK(update.direction == "update");
    }
  }
}

TEST_CASE("once the first bad one is found no copy of the run's state is left") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 4);
  plan.optimizer = sgd(1e4f);
  std::map<std::int64_t, std::size_t> in_use;
  const Run run = train::run(plan, scratch.next(), [&](const Plan&, const train::StepRecord& step) {
    in_use[step.step] = pool_statistics().bytes_in_use;
  });
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].step == 2);
  constexpr std::size_t state = (2 + 4) * (784 * 12 + 12 + 12 * 10 + 10);  // weights and masters
  CHECK(in_use[1] >= in_use[3] + state);
}

TEST_CASE("the time of a run is that of its training, without the search for what broke it") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.optimizer = sgd(1e4f);
  int models = 0;
  plan.model = [&](const Recipe& recipe, Rng& rng) {
    constexpr auto long_time = std::chrono::seconds(2);
    if (++models == 2) std::this_thread::sleep_for(long_time);  // the twin
    return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 12, 10}, recipe, rng);
  };
  const Run run = train::run(plan, scratch.next());
  CHECK(models == 2);
  CHECK(run.result->seconds > 0);
  CHECK(run.result->seconds < 1.5);
}

// And what is none.
// -------------------------------------------------------------------------------------------------

TEST_CASE("a healthy run has no findings, nor has one whose dynamic scale skips steps") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe :
       {recipes::fp32, recipes::fp16_weights, recipes::fp16_static, recipes::fp16_dynamic}) {
    INFO(describe(recipe));
    Plan plan = small_plan(data, recipe, 130);
    plan.shadow_every = 10;
    CHECK(findings_of(plan).empty());
  }
  Recipe recipe = recipes::fp16_dynamic;
  for (const float initial : {0x1p24f, 0x1p40f, 0x1p127f}) {  // from 2^127 the loss itself overflows
    recipe.scaling = DynamicScaling{.initial = initial};
    CHECK(findings_of(small_plan(data, recipe, 30)).empty());
  }
}

TEST_CASE("a dynamic scale that falls below 1 names the parameter, once") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 4};
  Plan plan = small_plan(data, recipe, 8);
  plan.optimizer = sgd(0);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    const Tensor hidden = layers[0](cast(images, DType::f16), Activation::relu);
    const auto steep = [](const Tensor& x) {
      return record("steep", {x}, x.viewed_as(x.shape()),
                    [](const Tensor& dy, const Needs&) { return std::vector{scale(dy, 0x1p24f)}; });
    };
    return layers[1](steep(hidden));
  });
  const Finding f = finding_of(plan, "scale below 1");
  check_place(f, 3, "backward", "after layer 1", "steep", DType::f16);  // 4, 2, 1, and then
  CHECK(f.parameter == "layer 1 weight");
  CHECK(f.high < 1);
  CHECK_FALSE(says(f, "multiplied by S"));
  CHECK(says(f, "The first parameter that it reached is layer 1 weight. S backs off below 1"));

  // The twin goes on with the scale of where it starts, too.
  plan.recipe.scaling = DynamicScaling{.initial = 0x1p13f, .backoff = 0.9375};
  plan.steps = 145;
  const Finding late = finding_of(plan, "scale below 1");
  CHECK(late.step == 140);  // 8192 x 0.9375^139 = 1.04
  CHECK(says(late, "The loss was multiplied by S = 1.04."));
}

TEST_CASE("a scale below 1 is laid to the step that it was, not to an infinite moment from before") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.state = DType::f16;
  recipe.scaling = DynamicScaling{.initial = 1, .growth = 2, .backoff = 0.01, .growth_interval = 1};
  Plan plan = small_plan(data, recipe, 10);
  plan.model = custom([](const std::vector<nn::Linear>& layers, const Tensor& images) {
    return each(
        "steep", logits_of(layers, images), [](float v) { return v; }, [](float, float) { return 5e4f; });
  });
  plan.optimizer = [](std::vector<Tensor> parameters, const Recipe& r) {
    return std::make_unique<Adam>(std::move(parameters), Adam::Options{.lr = 1e-3f}, r);
  };
  const std::vector<Finding> found = findings_of(plan);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == "scale below 1");
  CHECK(found[0].step > 1);
  CHECK(found[0].direction == "backward");
  CHECK(says(found[0], "The loss was multiplied by S = "));
  CHECK(found[1].kind == "passing");
  CHECK(found[1].step < found[0].step);
  CHECK(says(found[1], "Adam made infinity of the second moment"));
}

TEST_CASE("what dynamic scaling skips is not what made a running variance infinite") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p127f};
  Plan plan = small_plan(data, recipe, 127);
  plan.batch = 96;
  plan.model = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::BatchNormMlp>(std::vector<std::int64_t>{784, 12, 10}, r, rng,
                                              Accumulation{.format = DType::f16});
  };
  plan.optimizer = sgd(10);
  const Finding f = finding_of(plan, "passing");
  CHECK(f.step > 100);  // S had to come down to 2^20 or so
  CHECK(f.direction == "forward");
  CHECK(f.op == "batch_norm: variance summed in f16");
}

TEST_CASE("the same finding for any number of threads, however often the run is logged and copied") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 600);
  plan.model = custom(naive_softmax(1));
  plan.optimizer = sgd(0.021f, 0.9f);
  const Finding f = finding_of(plan);
  CHECK(f.step > 128);  // the copy of step 0 was not the last
  CHECK(f.op == "log");
  const int usual = threads();
  for (const std::int64_t log_every : {7, 50, 600}) {
    set_threads(log_every == 7 ? 1 : 3);
    plan.log_every = log_every;
    CHECK(finding_of(plan).sentence == f.sentence);
  }
  set_threads(usual);
}

TEST_CASE("to look changes nothing in the run") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.optimizer = sgd(1e4f);
  std::unique_ptr<nn::Model> model;
  const Run run = train::run(plan, scratch.next(), {}, &model);
  CHECK(run.findings.size() == 1);

  Rng rng = Rng(plan.seed).split(0);
  const nn::Mlp by_hand({784, 12, 10}, plan.recipe, rng);
  Sgd optimizer(by_hand.parameters(), {.lr = 1e4f}, plan.recipe);
  LossScaler scaler(plan.recipe.scaling);
  data::Loader loader(data.train, plan.batch, Rng(plan.seed).split(1).seed());
  for (const train::StepRecord& step : run.steps) {
    Tape tape;
    const data::Batch batch = loader.next();
    const Tensor loss = train::loss_of(plan.task, by_hand, batch);
    tape.backward(scaler.scale(loss));
    Gradients gradients = optimizer.gradients();
    GradCheck check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
    CHECK((loss.item() == step.loss || (std::isnan(loss.item()) && std::isnan(step.loss))));
  }
}

TEST_CASE("a run that does not repeat is said to have been lost sight of") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 5);
  int calls = 0, worst = 3;
  plan.model = custom([&](const std::vector<nn::Linear>& layers, const Tensor& images) {
    return scale(logits_of(layers, images), ++calls == worst ? static_cast<float>(infinity) : 1.0f);
  });
  const Finding f = finding_of(plan);
  CHECK(f.step == 3);
  CHECK(f.direction.empty());
  CHECK(says(f, "all was finite when steps 1 to 3 were run again"));
  calls = 0, worst = 140;
  plan.steps = 145;
  CHECK(says(finding_of(plan), "all was finite when steps 129 to 140 were run again"));
}

}  // namespace
}  // namespace tinymp::test
