#include <tinymp/train/eight_bit_meter.h>

#include <tests/kernels/rig.h>
#include <tests/train/faults.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/ops/ops.h>

/// What FP8 loses of a step, against counts by hand, and what a run says of it.
namespace tinymp::test {
namespace {

using enum DType;
using train::EightBitMeter;
using train::NarrowedSizes;

struct OneWeight final : nn::Module {
  Tensor w;
  explicit OneWeight(const std::vector<float>& values)
      : w(Tensor::from({2, static_cast<std::int64_t>(values.size()) / 2}, values).set_requires_grad(true)) {}
  std::vector<nn::Parameter> parameters() const override { return {{"layer 7 weight", w}}; }
  std::string name() const override { return "one weight"; }
};

Recipe in_eight_bits(DType forward, DType backward, bool saturate, LossScaling scaling = NoScaling{}) {
  return {.eight_bits = {.forward = forward, .backward = backward, .saturate = saturate}, .scaling = scaling};
}

train::ModelMaker steep(float forward, float backward) {
  return custom([=](const std::vector<nn::Linear>& layers, const Tensor& images) {
    const auto by = [=](const Tensor& x) {
      return record("steep", {x}, scale(x, forward),
                    [=](const Tensor& dy, const Needs&) { return std::vector{scale(dy, backward)}; });
    };
    return layers[1](by(layers[0](images, Activation::relu)));
  });
}

/// The activations of layer 2 are multiplied by `forward` from the `first`-th step on.
train::ModelMaker steep_from(int first, float forward, float backward) {
  const auto steps = std::make_shared<int>(0);  // for one run without a shadow
  return custom([=](const std::vector<nn::Linear>& layers, const Tensor& images) {
    const float now = ++*steps < first ? 1 : forward;
    const Tensor x = layers[0](images, Activation::relu);
    return layers[1](record("steep", {x}, scale(x, now), [=](const Tensor& dy, const Needs&) {
      return std::vector{scale(dy, backward)};
    }));
  });
}

}  // namespace

TEST_CASE("FP8 meter: what becomes 0 and what lies beyond the end, of each kind, by hand") {
  // E4M3: half of the smallest number is 2^-10, and 464 is halfway to what it does not have. E5M2: 2^-17 and 61440.
  const Tensor x = Tensor::from({3, 2}, std::vector<float>{0, 0x1p-10f, 0x1.8p-10f, 463, 464, -1000});
  const OneWeight model({0x1p-11f, 1, 448, 3});
  for (const bool saturate : {true, false}) {
    Recipe recipe = in_eight_bits(e4m3, e5m2, saturate);
    recipe.eight_bits.gradient = e5m2;
    const Float8Products products(model, recipe);
    const Float8Products::Region region(products);
    EightBitMeter meter(names_in(model));
    Tape tape(&meter);
    const Tensor g =
        Tensor::from({3, 2}, std::vector<float>{0x1p-17f, 0x1.1p-17f, 0, 60000, 70000, 0x1p-30f});
    tape.backward(sum(multiply(matmul(x, model.w), g)));
    // The gradient of w is a sum with infinities, or of products with 57344: all of it lies beyond.
    const std::vector<NarrowedSizes> sizes = meter.sizes();
    REQUIRE(sizes.size() == 4);
    CHECK(sizes[0] == NarrowedSizes{"activations", e4m3, 5, 1, 3});
    CHECK(sizes[1] == NarrowedSizes{"weights", e4m3, 4, 1, 0});
    CHECK(sizes[2] == NarrowedSizes{"errors", e5m2, 5, 2, 2});
    CHECK(sizes[3].what == "weight gradients");
    REQUIRE(meter.worst().has_value());
    CHECK(meter.worst()->layer == "layer 7");
  }
}

TEST_CASE("FP8 meter: a run measures in its first step and with its histograms, and its log tells") {
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp8_e5m2;
  recipe.eight_bits.exempt = {};
  Plan plan = small_plan(data, recipe, 5);
  plan.histogram_every = 4;
  Scratch scratch;
  const Run run = train::run(plan, scratch.next()), read = train::load_run(run.path);
  REQUIRE(run.sizes.size() == 2);
  CHECK(read.sizes == run.sizes);
  for (const train::StepSizes& look : run.sizes) {
    REQUIRE(look.eight_bits.size() == 4);
    const NarrowedSizes &x = look.eight_bits[0], &w = look.eight_bits[1];
    CHECK(x.dtype == e5m2);
    CHECK(x.values > 0);
    CHECK(x.values <= plan.batch * (784 + 12));
    CHECK(w.values == 784 * 12 + 12 * 10);
    CHECK(w.saturated == 0);
  }
  // It changes no bit, and a run without FP8 has none of it.
  Plan blind = plan;
  blind.histogram_every = 0;
  CHECK(train::run(blind, scratch.next()).steps.back().loss == run.steps.back().loss);
  plan.recipe = recipes::fp16_dynamic;
  for (const train::StepSizes& look : train::run(plan, scratch.next()).sizes) CHECK(look.eight_bits.empty());
}

TEST_CASE("lost in FP8: a tensor that becomes 0 altogether is reported, once") {
  const data::Split data = made_up_split();
  for (const bool saturate : {false, true}) {
    Plan plan = small_plan(data, in_eight_bits(e4m3, e4m3, saturate), 6);
    plan.histogram_every = 1;
    plan.model = steep(1, 0x1p-20f);
    const Finding f = finding_of(plan, "lost in FP8");
    check_place(f, 1, "backward", "layer 1 errors", "quantize", e4m3);
    CHECK(f.value == 0);
    CHECK(says(f, " values of the errors of layer 1, e4m3("));
    CHECK(says(f, ", that were not 0 became 0: the largest is "));
    CHECK(says(f, ", and the smallest number of FP8 E4M3 is 0.00195."));
  }
}

TEST_CASE("lost in FP8: a tenth at the end of the format is reported where the recipe saturates") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, in_eight_bits(e4m3, e5m2, true), 3);
  plan.model = steep(0x1p14f, 1);
  const Finding f = finding_of(plan, "lost in FP8");
  check_place(f, 1, "forward", "layer 2 activations", "quantize", e4m3);
  CHECK(f.value == 448);
  CHECK(says(f, " % of the values of the activations of layer 2, e4m3("));
  CHECK(says(f, " lie beyond 448, where FP8 E4M3 ends, and became that: the largest is "));
}

TEST_CASE("lost in FP8: delayed scales of 1, before a step has measured the tensor, are no finding") {
  const data::Split data = made_up_split();
  Recipe recipe = in_eight_bits(e4m3, e5m2, true);
  recipe.eight_bits.scaling = TensorScaling::delayed;
  Plan plan = small_plan(data, recipe, 6);
  plan.optimizer =
      sgd(1e-9f);  // with such activations larger steps would move the weights out of their scales
  plan.histogram_every = 1;
  plan.model = steep(0x1p14f, 0x1p-14f);
  CHECK(findings_of(plan).empty());

  // In the step in which activations grow by much they still have the scale of the step before.
  plan.histogram_every = 0;
  plan.steps = 129;
  plan.model = steep_from(128, 0x1p14f, 0x1p-14f);
  check_place(finding_of(plan, "lost in FP8"), 128, "forward", "layer 2 activations", "quantize", e4m3);
}

TEST_CASE("lost in FP8: a run without histograms looks at each 128th step, and reports once") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, in_eight_bits(e4m3, e5m2, true), 130);
  plan.model = steep_from(128, 0x1p14f, 1);
  const Finding f = finding_of(plan, "lost in FP8");
  check_place(f, 128, "forward", "layer 2 activations", "quantize", e4m3);
}

TEST_CASE("first bad: an infinity that FP8 made is told as that") {
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, in_eight_bits(e5m2, e5m2, false, StaticScaling{.factor = 0x1p30f}), 3);
  plan.model = steep(1, 1);
  const Finding errors = finding_of(plan);
  check_place(errors, 1, "backward", "layer 2 errors", "quantize", e5m2);
  CHECK(std::isinf(errors.value));
  CHECK(says(errors, "Step 1, backward: cast f32 -> e5m2 (layer 2 errors, ("));
  CHECK(says(errors, " lies beyond 57344, where FP8 E5M2 ends."));
  CHECK(says(errors, "The loss was multiplied by S = "));

  plan = small_plan(data, in_eight_bits(e4m3, e5m2, false), 3);
  plan.model = steep(0x1p14f, 0x1p-14f);
  const Finding activations = finding_of(plan);
  check_place(activations, 1, "forward", "layer 2 activations", "quantize", e4m3);
  CHECK(std::isnan(activations.value));
  CHECK(says(activations, ") gave NaN: "));
  CHECK(says(activations, " lies beyond 448, where FP8 E4M3 ends; it has no infinity."));
}

}  // namespace tinymp::test
