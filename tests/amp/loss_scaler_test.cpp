#include <tests/catch.h>
#include <tests/optim/rig.h>
#include <tinymp/ops/ops.h>
#include <cmath>
#include <limits>

/// What each kind of scaling does to the loss, to the gradients' factor and to a step.
namespace tinymp::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// One parameter of three weights under plain SGD.
struct Rig {
  explicit Rig(const LossScaling& policy, const Recipe& recipe = {})
      : weights(parameter({1, 2, 3}, recipe.compute)),
        optimizer({weights}, {.lr = 1}, recipe),
        scaler(policy) {}

  DeviceValue<kernels::StepOutcome> step(std::initializer_list<float> gradients) {
    leave_gradient(weights, gradients);
    return run_step(optimizer, scaler);
  }

  Tensor weights;
  Sgd optimizer;
  LossScaler scaler;
};

TEST_CASE("scale multiplies the loss and, through it, every gradient") {
  for (const LossScaling& policy : {LossScaling{NoScaling{}}, LossScaling{StaticScaling{.factor = 1024}},
                                    LossScaling{DynamicScaling{.initial = 65536}}}) {
    Rig rig(policy);
    const float s = rig.scaler.factor();
    Tape tape;
    const Tensor loss = sum(rig.weights);
    const Tensor scaled = rig.scaler.scale(loss);
    CHECK(scaled.dtype() == DType::f32);
    CHECK(scaled.item() == 6.0 * s);
    tape.backward(scaled);
    CHECK(rig.weights.grad().to_floats() == std::vector<float>{s, s, s});
    Gradients gradients = rig.optimizer.gradients();
    const UnscaleResult check = rig.scaler.unscale(gradients);
    CHECK(gradients.factor() == 1 / s);
    CHECK(rig.optimizer.step(gradients, check).read().taken);
    CHECK(rig.weights.to_floats() == std::vector<float>{0, 1, 2});
  }
}

TEST_CASE("scale refuses a loss that S would push out of its format, and anything that is not a loss") {
  LossScaler scaler(StaticScaling{});
  const Tensor half_loss = parameter({}, std::vector{1.0f}, DType::f16);
  CHECK_ERROR_SAYS("FP32", scaler.scale(half_loss));
  CHECK_ERROR_SAYS("(2)", scaler.scale(parameter({1, 2})));
}

TEST_CASE("the factor of the gradients is 1/S, divided in double and rounded once") {
  // 1/S of the smallest floats is beyond the largest: infinite, as in PyTorch.
  for (const float s : {1.0f, 3.0f, 0.1f, 65536.0f, 1e-38f, 3e38f, std::numeric_limits<float>::max(),
                        std::numeric_limits<float>::denorm_min()}) {
    Rig rig(DynamicScaling{.initial = s});
    leave_gradient(rig.weights, {1, 1, 1});
    Gradients gradients = rig.optimizer.gradients();
    CHECK_FALSE(gradients.unscaled());
    const UnscaleResult check = rig.scaler.unscale(gradients);
    CHECK(gradients.unscaled());
    INFO("S = " << s);
    CHECK(gradients.factor() == static_cast<float>(1.0 / static_cast<double>(s)));
  }
}

TEST_CASE("no scaling: S is 1, stays 1, and no step is skipped") {
  Rig rig(NoScaling{});
  for (const float g : {0.0f, 1.0f, infinity, not_a_number}) {
    CHECK(rig.step({0, g, 0}).read().taken);
    CHECK(rig.scaler.factor() == 1);
  }
  CHECK(std::isnan(rig.weights.to_floats()[1]));
  CHECK(rig.optimizer.steps() == 4);
}

TEST_CASE("static scaling: S never moves, and a bad step is taken, or skipped when asked") {
  for (const bool skip : {false, true}) {
    Rig rig(StaticScaling{.factor = 8, .skip_nonfinite = skip});
    CHECK(rig.step({8, 0, 0}).read().taken);
    for (const float bad : {infinity, -infinity, not_a_number})
      CHECK(rig.step({0, 0, bad}).read().taken == !skip);
    CHECK(std::isfinite(rig.weights.to_floats()[2]) == skip);
    CHECK(rig.weights.to_floats()[0] == 0);
    CHECK(rig.scaler.factor() == 8);
    CHECK(rig.scaler.state() == ScaleState{8, 0});
    CHECK(rig.optimizer.steps() == (skip ? 1 : 4));
  }
}

TEST_CASE("dynamic scaling: a bad step is skipped and halves S, an interval of good ones doubles it") {
  Rig rig(DynamicScaling{.initial = 16, .growth_interval = 3});
  CHECK(rig.step({16, 0, 0}).read().taken);
  CHECK(rig.scaler.state() == ScaleState{16, 1});
  CHECK_FALSE(rig.step({infinity, 0, 0}).read().taken);
  CHECK(rig.scaler.state() == ScaleState{8, 0});
  for (int i = 0; i < 3; ++i) CHECK(rig.step({8, 0, 0}).read().taken);
  CHECK(rig.scaler.state() == ScaleState{16, 0});
  CHECK(rig.weights.to_floats() == std::vector<float>{-3, 2, 3});
}

TEST_CASE("what is finite when scaled counts as good, whatever unscaling makes of it") {
  // PyTorch looks at the gradients before it multiplies them: at S = 2^-130 the factor is beyond the largest
  // float.
  Rig rig(DynamicScaling{.initial = 0x1p-130f});
  CHECK(rig.step({1, 0, 0}).read().taken);
  CHECK_FALSE(std::isfinite(rig.weights.to_floats()[0]));
}

TEST_CASE("unscale counts exactly what the gradients hold") {
  const auto counts_of = [](std::vector<float> values, DType gradient) {
    const Tensor p = parameter(std::vector<float>(values.size(), 1.0f));
    Recipe recipe;
    recipe.gradient = gradient;
    Sgd optimizer({p}, {}, recipe);
    LossScaler scaler(DynamicScaling{});
    leave_gradient(p, values);
    Gradients gradients = optimizer.gradients();
    const UnscaleResult check = scaler.unscale(gradients);
    CHECK(check.finite() == (check.counts().nonfinite == 0));
    CHECK(check.skips() == !check.finite());
    return check.counts();
  };
  SECTION("f32") {
    const auto found =
        counts_of({0, -0.0f, 1, -1, infinity, -infinity, not_a_number, -not_a_number, 1e-40f, -1e-45f,
                   std::numeric_limits<float>::min(), std::numeric_limits<float>::max()},
                  DType::f32);
    CHECK(found.values == 12);
    CHECK(found.zeros == 2);
    CHECK(found.nonfinite == 4);
    CHECK(found.subnormals == 2);
  }
  SECTION("f16") {
    // 1e-40 is 0 in FP16 and 1e5 is infinite: the counts are those of the format the gradients rest in.
    const auto found = counts_of({0, -0.0f, 1e-40f, 1e5f, -1e5f, 65504, 65519, not_a_number, 0x1p-24f,
                                  -0x1p-15f, 0x1p-14f, -0x1.ff8p-15f},
                                 DType::f16);
    CHECK(found.values == 12);
    CHECK(found.zeros == 3);
    CHECK(found.nonfinite == 3);
    CHECK(found.subnormals == 3);
  }
  SECTION("one value among many, at the ends and around the pieces that threads take") {
    constexpr std::size_t n = 40'000;
    for (const std::size_t place : {std::size_t{0}, std::size_t{1023}, std::size_t{1024}, std::size_t{16383},
                                    std::size_t{16384}, n - 1}) {
      std::vector<float> values(n, 1.0f);
      values[place] = -infinity;
      INFO("place " << place);
      CHECK(counts_of(values, DType::f32).nonfinite == 1);
      CHECK(counts_of(values, DType::f16).nonfinite == 1);
      values[place] = 1;
      CHECK(counts_of(values, DType::f16).nonfinite == 0);
    }
  }
}

TEST_CASE("two optimizers share a scale: one bad one backs it off once, the good one steps") {
  LossScaler scaler(DynamicScaling{.initial = 64, .growth_interval = 2});
  const Tensor a = parameter({1}), b = parameter({1});
  Sgd first({a}, {.lr = 1});
  Adam second({b}, {.lr = 1});
  const auto step = [&](float ga, float gb) {
    leave_gradient(a, {ga});
    leave_gradient(b, {gb});
    Gradients of_first = first.gradients(), of_second = second.gradients();
    UnscaleResult check_first = scaler.unscale(of_first);
    UnscaleResult check_second = scaler.unscale(of_second);
    const bool first_taken = first.step(of_first, check_first).read().taken;
    const bool second_taken = second.step(of_second, check_second).read().taken;
    scaler.update(std::move(check_first), std::move(check_second));
    first.zero_grad();
    second.zero_grad();
    return std::vector{first_taken, second_taken};
  };
  CHECK(step(64, 64) == std::vector{true, true});
  CHECK(scaler.state() == ScaleState{64, 1});  // one step, not two
  CHECK(step(infinity, 64) == std::vector{false, true});
  CHECK(scaler.state() == ScaleState{32, 0});
  CHECK(step(not_a_number, infinity) == std::vector{false, false});
  CHECK(scaler.state() == ScaleState{16, 0});
  CHECK(step(16, -infinity) == std::vector{true, false});
  CHECK(scaler.state() == ScaleState{8, 0});
  CHECK(first.steps() == 2);
  CHECK(second.steps() == 2);
}

TEST_CASE("a policy that could not work is refused, and the message says which part") {
  CHECK_ERROR_SAYS("factor is 0", LossScaler(StaticScaling{.factor = 0}));
  CHECK_ERROR_SAYS("factor is -1", LossScaler(StaticScaling{.factor = -1}));
  CHECK_ERROR_SAYS("factor is inf", LossScaler(StaticScaling{.factor = infinity}));
  CHECK_ERROR_SAYS("initial is nan", LossScaler(DynamicScaling{.initial = not_a_number}));
  CHECK_ERROR_SAYS("growth is 1", LossScaler(DynamicScaling{.growth = 1}));
  CHECK_ERROR_SAYS("growth is nan", LossScaler(DynamicScaling{.growth = not_a_number}));
  CHECK_ERROR_SAYS("backoff is 1", LossScaler(DynamicScaling{.backoff = 1}));
  CHECK_ERROR_SAYS("backoff is 0", LossScaler(DynamicScaling{.backoff = 0}));
  CHECK_ERROR_SAYS("backoff is nan", LossScaler(DynamicScaling{.backoff = not_a_number}));
  CHECK_ERROR_SAYS("growth_interval is 0", LossScaler(DynamicScaling{.growth_interval = 0}));
  CHECK_ERROR_SAYS("growth is 1", LossScaler(EnhancedScaling{.dynamic = {.growth = 1}}));
  const auto floors = [](std::initializer_list<ScaleFloor> all) {
    EnhancedScaling policy;
    for (const ScaleFloor& floor : all) policy.floor.at[policy.floor.count++] = floor;
    return policy;
  };
  CHECK_ERROR_SAYS("the step 0 is below 1", LossScaler(floors({{0, 8}})));
  CHECK_ERROR_SAYS("step 2 follows step 2", LossScaler(floors({{2, 8}, {2, 9}})));
  CHECK_ERROR_SAYS("a floor must not fall", LossScaler(floors({{1, 8}, {2, 7}})));
  CHECK_ERROR_SAYS("the value inf", LossScaler(floors({{1, infinity}})));
}

TEST_CASE("enhanced scaling: S backs off to the floor of the step, and a restored scaler knows the step") {
  const EnhancedScaling policy{.dynamic = {.initial = 32, .growth_interval = 2},
                               .floor = scale_floors_from("2:16,5:64")};
  Rig rig(policy);
  const auto bad = [&] { rig.step({infinity, 0, 0}); };
  const auto good = [&] { rig.step({1, 0, 0}); };
  good();
  CHECK(rig.scaler.state() == ScaleState{.scale = 32, .growth_tracker = 1, .steps = 1});
  bad();
  bad();  // 8 without the floor
  CHECK(rig.scaler.state() == ScaleState{.scale = 16, .steps = 3});
  Rig restarted(policy);
  restarted.scaler.restore(rig.scaler.state());
  restarted.step({1, 0, 0});
  CHECK(restarted.scaler.factor() == 16);
  restarted.step({infinity, 0, 0});
  CHECK(restarted.scaler.state() == ScaleState{.scale = 64, .steps = 5});
  CHECK_ERROR_SAYS("of -1 in all", restarted.scaler.restore({.scale = 64, .steps = -1}));
}

TEST_CASE("restore takes every state that state() can give, and no other") {
  LossScaler scaler(DynamicScaling{});
  for (const ScaleState state :
       {ScaleState{0, 0}, ScaleState{0x1p-149f, 3}, ScaleState{std::numeric_limits<float>::max(), 1999}}) {
    scaler.restore(state);
    CHECK(scaler.state() == state);
    CHECK(scaler.factor() == state.scale);
  }
  const ScaleState before = scaler.state();
  CHECK_ERROR_SAYS("nan", scaler.restore({not_a_number, 0}));
  CHECK_ERROR_SAYS("inf", scaler.restore({infinity, 0}));
  CHECK_ERROR_SAYS("-1", scaler.restore({-1, 0}));
  CHECK_ERROR_SAYS("-5", scaler.restore({1, -5}));
  CHECK_ERROR_SAYS("2147483647 good steps", scaler.restore({1, std::numeric_limits<int>::max()}));
  CHECK(scaler.state() == before);

  LossScaler none(NoScaling{}), fixed(StaticScaling{.factor = 8});
  none.restore(none.state());
  fixed.restore(fixed.state());
  CHECK_ERROR_SAYS("scale 8", none.restore({8, 0}));
  CHECK_ERROR_SAYS("scale 4", fixed.restore({4, 0}));
  CHECK_ERROR_SAYS("scale 8", fixed.restore({.scale = 8, .steps = 1}));
  CHECK(fixed.factor() == 8);
}

}  // namespace
}  // namespace tinymp::test
