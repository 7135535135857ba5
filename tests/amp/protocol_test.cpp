#include <tests/catch.h>
#include <tests/optim/rig.h>
#include <limits>
#include <optional>

/// The order of a step: backward -> unscale -> clip -> step -> update -> zero_grad. What the types cannot
/// refuse is refused here, with a message, and without any effect.
namespace tinymp::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

struct Rig {
  Tensor weights = parameter({1, 2});
  Sgd optimizer{{weights}, {.lr = 1}};

  /// As after a backward pass.
  Gradients gradients(float value = 4) {
    leave_gradient(weights, {value, value});
    return optimizer.gradients();
  }
};

TEST_CASE("unscale twice is refused, and the factor stays 1/S") {
  Rig rig;
  LossScaler scaler(StaticScaling{.factor = 4});
  Gradients gradients = rig.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  CHECK_ERROR_SAYS("unscale was called before", scaler.unscale(gradients));
  Gradients again = rig.optimizer.gradients();  // another handle on the same gradients
  CHECK_ERROR_SAYS("unscale was called before", scaler.unscale(again));
  LossScaler other(StaticScaling{.factor = 2});
  CHECK_ERROR_SAYS("unscale was called before", other.unscale(gradients));
  CHECK(gradients.factor() == 0.25f);
  CHECK(rig.optimizer.step(gradients, check).read().taken);
  scaler.update(std::move(check));
}

TEST_CASE("step wants unscaled gradients and their own check, once") {
  Rig rig, other;
  LossScaler scaler(DynamicScaling{.initial = 4});
  Gradients gradients = rig.gradients(), others = other.gradients();
  UnscaleResult others_check = scaler.unscale(others);
  const Snapshot before = snapshot(rig.optimizer);

  CHECK_ERROR_SAYS("unscale", rig.optimizer.step(gradients, others_check));
  UnscaleResult check = scaler.unscale(gradients);
  CHECK_ERROR_SAYS("another optimizer", rig.optimizer.step(others, others_check));
  CHECK_ERROR_SAYS("check", rig.optimizer.step(gradients, others_check));
  CHECK(snapshot(rig.optimizer) == before);

  CHECK(rig.optimizer.step(gradients, check).read().taken);
  CHECK(rig.weights.to_floats() == std::vector<float>{0, 1});
  CHECK_ERROR_SAYS("taken already", rig.optimizer.step(gradients, check));
  CHECK(rig.weights.to_floats() == std::vector<float>{0, 1});
  CHECK(rig.optimizer.steps() == 1);
}

TEST_CASE("a skipped step counts as a step: it cannot be tried again with the same check") {
  Rig rig;
  LossScaler scaler(DynamicScaling{.initial = 4});
  Gradients gradients = rig.gradients(infinity);
  const UnscaleResult check = scaler.unscale(gradients);
  CHECK_FALSE(rig.optimizer.step(gradients, check).read().taken);
  CHECK_ERROR_SAYS("taken already", rig.optimizer.step(gradients, check));
}

TEST_CASE("gradients and checks of an earlier step are refused") {
  Rig rig;
  LossScaler scaler(StaticScaling{.factor = 4});
  Gradients old = rig.gradients();
  UnscaleResult old_check = scaler.unscale(old);
  rig.optimizer.step(old, old_check);
  rig.optimizer.zero_grad();

  CHECK_ERROR_SAYS("before zero_grad", scaler.unscale(old));
  CHECK_ERROR_SAYS("before zero_grad", clip_norm(old, 1));
  CHECK_ERROR_SAYS("before zero_grad", rig.optimizer.step(old, old_check));

  Gradients gradients = rig.gradients();
  CHECK_ERROR_SAYS("never ended", scaler.unscale(gradients));  // update() was forgotten
  UnscaleResult check = scaler.unscale(gradients);             // it was said: the run goes on
  CHECK_ERROR_SAYS("earlier step", scaler.update(std::move(old_check)));
  CHECK_ERROR_SAYS("not of these gradients", rig.optimizer.step(gradients, old_check));
  CHECK(rig.optimizer.step(gradients, check).read().taken);
  CHECK(rig.optimizer.steps() == 2);
}

TEST_CASE("a step that was given up before it was taken ends with zero_grad") {
  Rig rig;
  LossScaler scaler(DynamicScaling{.initial = 4});
  {
    Gradients gradients = rig.gradients();
    const UnscaleResult check = scaler.unscale(gradients);  // ... and then something throws
  }
  rig.optimizer.zero_grad();
  Gradients gradients = rig.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  CHECK(rig.optimizer.step(gradients, check).read().taken);
  scaler.update(std::move(check));
  CHECK(scaler.state() == ScaleState{4, 1});
}

TEST_CASE("a check that was handed in is worth nothing any more") {
  Rig rig;
  LossScaler scaler(DynamicScaling{.initial = 4});
  Gradients gradients = rig.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  scaler.update(std::move(check));
  const ScaleState state = scaler.state();
  CHECK_ERROR_SAYS("handed in before", scaler.update(std::move(check)));
  CHECK_ERROR_SAYS("check", rig.optimizer.step(gradients, check));
  CHECK(scaler.state() == state);
  CHECK(rig.optimizer.steps() == 0);
}

TEST_CASE("a check that was moved from is worth nothing any more") {
  Rig rig;
  LossScaler scaler(DynamicScaling{.initial = 4});
  Gradients gradients = rig.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  UnscaleResult moved = std::move(check);
  CHECK_ERROR_SAYS("check", rig.optimizer.step(gradients, check));
  CHECK_ERROR_SAYS("handed in before", scaler.update(std::move(check)));
  CHECK(rig.optimizer.step(gradients, moved).read().taken);
  scaler.update(std::move(moved));
  CHECK(scaler.state() == ScaleState{4, 1});
}

TEST_CASE("update refuses a check of another scaler") {
  Rig rig, other;
  LossScaler scaler(DynamicScaling{.initial = 4}), stranger(DynamicScaling{.initial = 4});
  Gradients gradients = rig.gradients(), others = other.gradients(infinity);
  UnscaleResult check = scaler.unscale(gradients);
  UnscaleResult others_check = stranger.unscale(others);
  CHECK_ERROR_SAYS("another scaler", scaler.update(std::move(others_check)));
  CHECK(scaler.state() == ScaleState{4, 0});
  // Neither scaler has lost anything by it.
  scaler.update(std::move(check));
  CHECK(scaler.state() == ScaleState{4, 1});
  stranger.update(std::move(others_check));
  CHECK(stranger.state() == ScaleState{2, 0});
}

TEST_CASE("update wants every check of the step at once") {
  Rig a, b;
  LossScaler scaler(DynamicScaling{.initial = 4});
  Gradients of_a = a.gradients(infinity), of_b = b.gradients();
  UnscaleResult check_a = scaler.unscale(of_a);
  UnscaleResult check_b = scaler.unscale(of_b);
  CHECK_ERROR_SAYS("missing", scaler.update(std::move(check_b)));
  CHECK(scaler.state() == ScaleState{4, 0});
  // A refused update takes nothing: the same two checks end the step.
  scaler.update(std::move(check_a), std::move(check_b));
  CHECK(scaler.state() == ScaleState{2, 0});
}

TEST_CASE("update refuses one check twice, and forgets nothing by it") {
  Rig a, b;
  LossScaler scaler(DynamicScaling{.initial = 4, .growth_interval = 5});
  Gradients of_a = a.gradients(infinity), of_b = b.gradients();
  UnscaleResult check_a = scaler.unscale(of_a);
  UnscaleResult check_b = scaler.unscale(of_b);
  CHECK_ERROR_SAYS("LossScaler::update", scaler.update(std::move(check_a), std::move(check_a)));
  CHECK(scaler.state() == ScaleState{4, 0});
  scaler.update(std::move(check_a), std::move(check_b));
  CHECK(scaler.state() == ScaleState{2, 0});
}

TEST_CASE("the state cannot be restored in the middle of a step") {
  Rig rig;
  LossScaler scaler(DynamicScaling{.initial = 4});
  Gradients gradients = rig.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  CHECK_ERROR_SAYS("under way", scaler.restore({8, 0}));
  CHECK(scaler.factor() == 4);
  scaler.update(std::move(check));
  scaler.restore({8, 0});
  CHECK(scaler.factor() == 8);
}

TEST_CASE("zero_grad and update may come in either order") {
  Rig rig;
  LossScaler scaler(DynamicScaling{.initial = 4, .growth_interval = 2});
  for (int i = 0; i < 2; ++i) {
    Gradients gradients = rig.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    CHECK(rig.optimizer.step(gradients, check).read().taken);
    rig.optimizer.zero_grad();
    scaler.update(std::move(check));
  }
  CHECK(scaler.state() == ScaleState{8, 0});
}

TEST_CASE("a step that a program gives up does not count: unscale, update, zero_grad, and on") {
  Rig rig;
  LossScaler scaler(DynamicScaling{.initial = 4});
  const Snapshot before = snapshot(rig.optimizer);
  {
    Gradients gradients = rig.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    scaler.update(std::move(check));
    rig.optimizer.zero_grad();
  }
  CHECK(snapshot(rig.optimizer) == before);
  Gradients gradients = rig.gradients();
  CHECK_ERROR_SAYS("unscale", gradients.factor());
  UnscaleResult check = scaler.unscale(gradients);
  CHECK(rig.optimizer.step(gradients, check).read().taken);
}

TEST_CASE("gradients outlive the handle of their optimizer") {
  std::optional<Rig> rig(std::in_place);
  LossScaler scaler(DynamicScaling{.initial = 4});
  Gradients gradients = rig->gradients(infinity);
  UnscaleResult check = scaler.unscale(gradients);
  rig.reset();
  CHECK(gradients.factor() == 0.25f);
  CHECK_FALSE(check.finite());
  scaler.update(std::move(check));
  CHECK(scaler.factor() == 2);
}

}  // namespace
}  // namespace tinymp::test
