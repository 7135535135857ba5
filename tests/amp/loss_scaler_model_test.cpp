#include <tests/amp/scaler_model.h>
#include <tests/amp/traces.h>
#include <tests/optim/rig.h>
#include <tinymp/base/rng.h>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

/// LossScaler against PyTorch: directly on the recorded traces, then on random sequences against the model
/// that was held to the same traces. Every step here goes through the library's own protocol, unscale -> step
/// -> update.
namespace tinymp::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float largest = std::numeric_limits<float>::max();

/// One to three optimizers on tiny parameters that share a LossScaler.
class SharedScale {
 public:
  SharedScale(const DynamicScaling& policy, int optimizers)
      : policy_(policy), scaler_(std::make_unique<LossScaler>(policy)) {
    for (int i = 0; i < optimizers; ++i) {
      parameters_.push_back(parameter({0.5f, -1.0f, 2.0f}));
      optimizers_.push_back(std::make_unique<Sgd>(std::vector{parameters_.back()}, Sgd::Options{.lr = 0.1f}));
    }
  }

  /// One training step; says who stepped.
  std::vector<bool> step(const std::vector<bool>& bad) {
    std::vector<UnscaleResult> checks;
    std::vector<bool> taken;
    for (std::size_t i = 0; i < bad.size(); ++i) {
      // Anything finite is good: zeros, subnormals, the largest float.
      static constexpr std::array good = {0.5f, -0.0f, largest, 1e-40f, -1.0f};
      static constexpr std::array worst = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
      std::array<float, 3> values = {good[draw_ % 5], good[draw_ / 5 % 5], good[draw_ / 25 % 5]};
      if (bad[i]) values[draw_ % 3] = worst[draw_ / 3 % 3];
      ++draw_;
      leave_gradient(parameters_[i], values);
      Gradients gradients = optimizers_[i]->gradients();
      checks.push_back(scaler_->unscale(gradients));
      last_factor_ = gradients.factor();
      taken.push_back(optimizers_[i]->step(gradients, checks.back()).read().taken);
    }
    update(checks);
    for (const auto& optimizer : optimizers_) optimizer->zero_grad();
    return taken;
  }

  /// What a program does that ends and is started again.
  void save_and_restore() {
    const ScaleState saved = scaler_->state();
    scaler_ = std::make_unique<LossScaler>(policy_);
    scaler_->restore(saved);
  }

  LossScaler& scaler() { return *scaler_; }
  float last_factor() const { return last_factor_; }  ///< of the gradients in the last step

 private:
  void update(std::vector<UnscaleResult>& c) {
    switch (c.size()) {
      case 1:
        return scaler_->update(std::move(c[0]));
      case 2:
        return scaler_->update(std::move(c[0]), std::move(c[1]));
      case 3:
        return scaler_->update(std::move(c[2]), std::move(c[0]), std::move(c[1]));  // in any order
      default:
        FAIL("this test shares a scale among one to three optimizers");
    }
  }

  DynamicScaling policy_;
  std::unique_ptr<LossScaler> scaler_;
  std::vector<Tensor> parameters_;
  std::vector<std::unique_ptr<Sgd>> optimizers_;
  std::size_t draw_ = 0;
  float last_factor_ = 0;
};

class LossScalerUnderTrace {
 public:
  LossScalerUnderTrace(float scale, double growth, double backoff, int interval, int tracker, int optimizers)
      : shared_({.initial = 1, .growth = growth, .backoff = backoff, .growth_interval = interval},
                optimizers) {
    shared_.scaler().restore({.scale = scale, .growth_tracker = tracker});
  }
  std::vector<bool> step(const std::vector<bool>& bad) { return shared_.step(bad); }
  float scale() { return shared_.scaler().factor(); }
  int tracker() { return shared_.scaler().state().growth_tracker; }

 private:
  SharedScale shared_;
};

TEST_CASE("LossScaler gives the recorded traces of PyTorch, bit for bit") {
  replay_all<LossScalerUnderTrace>();
}

/// One random run: where it starts, how S moves, and how often gradients go bad in each quarter of it.
struct Sequence {
  DynamicScaling policy;
  int optimizers;
  std::array<float, 4> bad_probability;
};

Sequence draw_sequence(Rng& rng) {
  static constexpr std::array starts = {65536.0f, 1.0f, 0x1p120f, largest, 1e-30f, 0x1p-140f, 24.0f, 3e38f};
  static constexpr std::array growths = {2.0, 2.0, 2.0, 1.5, 1.1, 4.0, 3.7, 1e10, 1.0000001};
  static constexpr std::array backoffs = {0.5, 0.5, 0.5, 0.7, 0.9, 0.1, 1e-12, 0.9999999};
  static constexpr std::array intervals = {1, 1, 2, 3, 5, 20, 60};
  static constexpr std::array probabilities = {0.0f, 0.0f, 0.02f, 0.1f, 0.3f, 0.7f, 1.0f};
  Sequence s{};
  s.policy.initial = starts[rng.below(starts.size())];
  s.policy.growth = growths[rng.below(growths.size())];
  s.policy.backoff = backoffs[rng.below(backoffs.size())];
  s.policy.growth_interval = intervals[rng.below(intervals.size())];
  s.optimizers = rng.below(3) == 0 ? 2 + static_cast<int>(rng.below(2)) : 1;
  for (float& p : s.bad_probability) p = probabilities[rng.below(probabilities.size())];
  return s;
}

/// How often the corners were met: a generator that misses them proves nothing.
struct Corners {
  long growth_refused = 0, below_one = 0, subnormal = 0, zero = 0, one_of_several_bad = 0;
};

/// True when LossScaler and the model agree in every step.
bool agree(const Sequence& s, Rng& rng, Corners& corners) {
  constexpr int steps = 200;
  SharedScale shared(s.policy, s.optimizers);
  ScalerModel model{s.policy.initial, s.policy.growth, s.policy.backoff, s.policy.growth_interval};
  const int restart = static_cast<int>(rng.below(steps));
  for (int t = 0; t < steps; ++t) {
    if (t == restart) shared.save_and_restore();
    std::vector<bool> bad;
    for (int i = 0; i < s.optimizers; ++i)
      bad.push_back(rng.uniform(0, 1) < s.bad_probability[static_cast<std::size_t>(t / (steps / 4))]);
    const float factor = model.unscale_factor(), before = model.scale;
    const bool about_to_grow = model.tracker + 1 == model.interval;
    model.update(bad);
    if (shared.step(bad) != ScalerModel::stepped(bad) || shared.last_factor() != factor ||
        shared.scaler().state() != ScaleState{model.scale, model.tracker}) {
      UNSCOPED_INFO("step " << t << ": S " << shared.scaler().factor() << ", model " << model.scale
                            << "; good steps " << shared.scaler().state().growth_tracker << ", model "
                            << model.tracker);
      return false;
    }
    const auto bad_ones = std::ranges::count(bad, true);
    corners.growth_refused += about_to_grow && bad_ones == 0 && before > 1e37f && model.scale == before;
    corners.below_one += model.scale < 1;
    corners.subnormal += model.scale > 0 && model.scale < std::numeric_limits<float>::min();
    corners.zero += model.scale == 0;
    corners.one_of_several_bad += bad_ones > 0 && bad_ones < s.optimizers;
  }
  return true;
}

TEST_CASE("LossScaler follows the model of GradScaler on 10,000 random sequences of good and bad steps",
          "[repeats]") {
  Rng rng(20181);
  Corners corners;
  for (int n = 0; n < 10'000; ++n) {
    const Sequence s = draw_sequence(rng);
    INFO("sequence " << n << ": from " << s.policy.initial << ", growth " << s.policy.growth << ", backoff "
                     << s.policy.backoff << ", interval " << s.policy.growth_interval << ", " << s.optimizers
                     << " optimizer(s)");
    if (!agree(s, rng, corners)) FAIL("LossScaler and the model part");
  }
  CHECK(corners.growth_refused > 1000);
  CHECK(corners.below_one > 1000);
  CHECK(corners.subnormal > 1000);
  CHECK(corners.zero > 1000);
  CHECK(corners.one_of_several_bad > 1000);
}

}  // namespace
}  // namespace tinymp::test
