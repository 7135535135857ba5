#include <tests/train/faults.h>
#include <tinymp/nn/deep_mlp.h>

/// Infinities that leave the loss finite, and what is no finding at all.
namespace tinymp::test {
namespace {

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

TEST_CASE("a mask is not to blame for a gradient that overflows in the same first step") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_static;
  recipe.scaling = StaticScaling{.factor = 0x1p40f};
  Plan plan = small_plan(data, recipe, 1);
  plan.model = custom(masked(-1e9f), 11);
  const std::vector<Finding> found = findings_of(plan);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == "passing");
  check_place(found[0], 1, "forward", "before the first layer", "cast", DType::f16);
  CHECK(found[1].kind == "first bad");
  CHECK(found[1].step == 1);
  CHECK(found[1].direction == "backward");
}

TEST_CASE("a mask hides no infinite moment") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp32;
  recipe.state = DType::f16;
  Plan plan = small_plan(data, recipe, 10);
  const Custom::Forward mask = masking({}, 0, 0);
  plan.model = custom(
      [mask](const std::vector<nn::Linear>& layers, const Tensor& images) {
        return each(
            "steep", mask(layers, images), [](float v) { return v; }, [](float, float) { return 1e5f; });
      },
      11);
  plan.optimizer = adam(1e-3f);
  const std::vector<Finding> found = findings_of(plan);
  REQUIRE(found.size() == 2);
  CHECK(found[0].kind == "passing");
  check_place(found[0], 1, "forward", "after layer 2", "mask", DType::f32);
  CHECK(found[1].kind == "passing");
  check_place(found[1], 1, "update", "layer 1 bias", "Adam", DType::f16);
}

TEST_CASE("an infinite variance of the first step is told once, whatever it leaves in the running one") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 5);
  plan.pixels.scale = data::PixelScale::raw;
  plan.batch = 96;
  plan.model = [](const Recipe& recipe, Rng& rng) {
    return std::make_unique<nn::BatchNormMlp>(std::vector<std::int64_t>{784, 12, 10}, recipe, rng,
                                              Accumulation{.format = DType::f16});
  };
  plan.optimizer = sgd(0);
  const Finding f = finding_of(plan, "passing");
  check_place(f, 1, "forward", "after layer 1", "batch_norm: variance summed in f16", DType::f32);
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
  plan.optimizer = adam(1e-3f);
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
  plan.optimizer = adam(1e-3f);
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

}  // namespace
}  // namespace tinymp::test
