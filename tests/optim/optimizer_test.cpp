#include <tests/catch.h>
#include <tests/optim/reference_optimizers.h>
#include <tests/optim/rig.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/half.h>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string>

/// Every optimizer against the float64 reference, under every placing of weights, masters and moments.
namespace tinymp::test {
namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// One optimizer with its options, here and as the reference has it: FP32 options, exact in double.
struct Kind {
  std::string name;
  ReferenceOptions reference;
  std::function<std::unique_ptr<Optimizer>(std::vector<Tensor>, const Recipe&)> make;
};

Kind sgd(const std::string& name, Sgd::Options o) {
  return {name,
          {.kind = "sgd", .lr = o.lr, .momentum = o.momentum, .weight_decay = o.weight_decay},
          [o](std::vector<Tensor> p, const Recipe& r) { return std::make_unique<Sgd>(std::move(p), o, r); }};
}

template <class A>
Kind adam(const std::string& name, const std::string& kind, const typename A::Options& o) {
  return {name,
          {.kind = kind,
           .lr = o.lr,
           .weight_decay = o.weight_decay,
           .beta1 = o.beta1,
           .beta2 = o.beta2,
           .eps = o.epsilon},
          [o](std::vector<Tensor> p, const Recipe& r) { return std::make_unique<A>(std::move(p), o, r); }};
}

Kind adagrad(const std::string& name, Adagrad::Options o) {
  return {
      name,
      {.kind = "adagrad", .lr = o.lr, .weight_decay = o.weight_decay, .eps = o.epsilon},
      [o](std::vector<Tensor> p, const Recipe& r) { return std::make_unique<Adagrad>(std::move(p), o, r); }};
}

std::vector<Kind> kinds() {
  return {sgd("Sgd", {.lr = 0.05f}),
          sgd("Sgd, decay", {.lr = 0.05f, .weight_decay = 0.01f}),
          sgd("Sgd, momentum", {.lr = 0.01f, .momentum = 0.9f}),
          sgd("Sgd, momentum and decay", {.lr = 0.01f, .momentum = 0.9f, .weight_decay = 0.01f}),
          adam<Adam>("Adam", "adam", {.lr = 0.002f}),
          adam<Adam>("Adam, decay", "adam",
                     {.lr = 0.002f, .beta1 = 0.8f, .epsilon = 1e-5f, .weight_decay = 0.05f}),
          adam<AdamW>("AdamW, no decay", "adamw", {.lr = 0.002f, .weight_decay = 0}),
          adam<AdamW>("AdamW", "adamw", {.lr = 0.002f, .beta2 = 0.95f, .weight_decay = 0.1f}),
          adagrad("Adagrad", {.lr = 0.02f}),
          adagrad("Adagrad, decay", {.lr = 0.02f, .epsilon = 1e-6f, .weight_decay = 0.02f})};
}

Recipe recipe(DType compute, DType gradient, DType master, DType state) {
  Recipe r;
  r.compute = compute;
  r.gradient = gradient;
  r.master = master;
  r.state = state;
  return r;
}

constexpr auto f16 = DType::f16;
constexpr auto f32 = DType::f32;

/// A model of three parameters, more values together than one block of the kernels, and gradients that spread
/// over 16 powers of two. Everything is exact in FP16, also when multiplied by S, so that every recipe sees
/// the same numbers.
class Problem {
 public:
  explicit Problem(std::uint64_t seed) : rng_(seed) {
    for (const Shape& shape : shapes_) initial_.push_back(draw(shape.size(), 0));
  }

  std::vector<Tensor> parameters(DType dtype) const {
    std::vector<Tensor> p;
    for (std::size_t i = 0; i < shapes_.size(); ++i) p.push_back(parameter(shapes_[i], initial_[i], dtype));
    return p;
  }
  std::vector<double> initial() const { return flat(initial_); }

  /// The gradients of the next step, S times too large in the buffers, true ones handed back.
  std::vector<double> next_gradients(const std::vector<Tensor>& parameters, float s) {
    std::vector<std::vector<float>> gradients;
    for (const Tensor& p : parameters) {
      gradients.push_back(draw(p.size(), 16));
      std::vector<float> scaled = gradients.back();
      for (float& g : scaled) g *= s;
      leave_gradient(p, scaled);
    }
    return flat(gradients);
  }

 private:
  /// k / 512 * 2^-e, |k| <= 256, e below `spread`: at most 9 bits.
  std::vector<float> draw(std::int64_t n, std::uint64_t spread) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto k = static_cast<float>(rng_.below(513)) - 256;
      const auto e = spread == 0 ? 0 : static_cast<int>(rng_.below(spread));
      values.push_back(std::ldexp(k / 512, -e));
    }
    return values;
  }
  static std::vector<double> flat(const std::vector<std::vector<float>>& parts) {
    std::vector<double> all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  std::vector<Shape> shapes_ = {{40, 30}, {30}, {7, 5, 3}};
  Rng rng_;
  std::vector<std::vector<float>> initial_;
};

double worst_error(const Optimizer& optimizer, const std::vector<double>& expected) {
  const std::vector<double> master = optimizer.master().to_doubles();
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double error = std::fabs(master[i] - expected[i]) / std::max(1.0, std::fabs(expected[i]));
    worst = error > worst || std::isnan(error) ? error : worst;
  }
  return worst;
}

TEST_CASE("100 steps of each optimizer stay within 1e-6 of float64") {
  struct Setting {
    const char* name;
    Recipe recipe;
    LossScaling scaling;
  };
  const Setting settings[] = {
      {"FP32", recipe(f32, f32, f32, f32), NoScaling{}},
      {"FP16, FP32 master, S = 1024", recipe(f16, f16, f32, f32), StaticScaling{.factor = 1024}},
      {"FP16, FP32 master and gradients, dynamic", recipe(f16, f32, f32, f32),
       DynamicScaling{.initial = 256, .growth_interval = 7}}};
  for (const Setting& setting : settings) {
    for (const Kind& kind : kinds()) {
      Problem problem(7);
      const std::vector<Tensor> parameters = problem.parameters(setting.recipe.compute);
      const auto optimizer = kind.make(parameters, setting.recipe);
      ReferenceOptimizer reference(kind.reference, problem.initial());
      LossScaler scaler(setting.scaling);
      for (int t = 0; t < 100; ++t) {
        reference.step(problem.next_gradients(parameters, scaler.factor()));
        REQUIRE(run_step(*optimizer, scaler).read().taken);
      }
      INFO(setting.name << ", " << kind.name);
      CHECK(worst_error(*optimizer, reference.weights()) <= 1e-6);
      CHECK(optimizer->steps() == 100);
      // The model's weights are the master, rounded once.
      const std::vector<float> master = optimizer->master().to_floats();
      const std::vector<float> weights = optimizer->weights().to_floats();
      bool rounded = true;
      for (std::size_t i = 0; i < master.size(); ++i)
        rounded =
            rounded &&
            weights[i] == (setting.recipe.compute == f16 ? static_cast<float>(half(master[i])) : master[i]);
      CHECK(rounded);
    }
  }
}

TEST_CASE("the first steps of Adam are right where its bias correction is large") {
  // Step 1 moves every weight by lr (less epsilon), whatever the size of its gradient.
  const Tensor p = parameter({0, 0, 0, 0});
  Adam adam({p}, {.lr = 0.125f, .epsilon = 1e-20f});
  LossScaler scaler(NoScaling{});
  leave_gradient(p, {1, -1e-6f, 3e4f, -1e-12f});
  run_step(adam, scaler);
  const std::vector<float> w = p.to_floats();
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::fabs(std::fabs(w[i]) - 0.125f) <= 1e-7f);
  CHECK(w[0] < 0);
  CHECK(w[1] > 0);
}

TEST_CASE("a skipped step leaves weights, masters, moments and step counter bit-equal") {
  const Recipe recipes[] = {recipe(f32, f32, f32, f32), recipe(f16, f16, f32, f32),
                            recipe(f16, f16, f16, f32), recipe(f16, f16, f16, f16),
                            recipe(f16, f32, f32, f16)};
  for (const Recipe& r : recipes) {
    for (const Kind& kind : kinds()) {
      INFO(kind.name << ", " << describe(r));
      Problem problem(3);
      const std::vector<Tensor> parameters = problem.parameters(r.compute);
      const auto optimizer = kind.make(parameters, r);
      LossScaler scaler(DynamicScaling{.initial = 256});
      for (int t = 0; t < 3; ++t) {
        problem.next_gradients(parameters, scaler.factor());
        REQUIRE(run_step(*optimizer, scaler).read().taken);
      }
      const Snapshot before = snapshot(*optimizer);
      for (const float bad : {infinity, -infinity, not_a_number}) {
        for (std::size_t which = 0; which < parameters.size(); ++which) {
          problem.next_gradients(parameters, scaler.factor());
          std::vector<float> gradient = parameters[which].grad().to_floats();
          gradient[which * gradient.size() / 3] = bad;
          leave_gradient(parameters[which], gradient);
          const DeviceValue<kernels::StepOutcome> result = run_step(*optimizer, scaler);
          CHECK_FALSE(result.read().taken);
          CHECK(result.read().updates.values == 0);
          REQUIRE(snapshot(*optimizer) == before);
        }
      }
      CHECK(scaler.factor() == 0.5f);
      problem.next_gradients(parameters, scaler.factor());
      CHECK(run_step(*optimizer, scaler).read().taken);
      CHECK(snapshot(*optimizer) != before);
    }
  }
}

TEST_CASE("after a skipped step training goes on as if it had never been") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    std::array<Snapshot, 2> ends;
    for (const bool with_bad_step : {false, true}) {
      Problem problem(11);
      const std::vector<Tensor> parameters = problem.parameters(f32);
      const auto optimizer = kind.make(parameters, recipe(f32, f32, f32, f32));
      LossScaler scaler(DynamicScaling{.initial = 256});
      for (int t = 0; t < 6; ++t) {
        if (with_bad_step && t == 3) {
          for (const Tensor& p : parameters)
            leave_gradient(p, std::vector<float>(static_cast<std::size_t>(p.size()), not_a_number));
          CHECK_FALSE(run_step(*optimizer, scaler).read().taken);
        }
        problem.next_gradients(parameters, scaler.factor());
        CHECK(run_step(*optimizer, scaler).read().taken);
      }
      ends[with_bad_step] = snapshot(*optimizer);
    }
    CHECK(ends[0] == ends[1]);
  }
}

TEST_CASE("any number of threads gives the same bits and the same counts") {
  const int usual = threads();
  constexpr std::size_t n = 60'000;
  Rng rng(5);
  std::vector<float> initial(n), gradient(n);
  for (float& w : initial) w = rng.uniform(-1, 1);
  for (float& g : gradient) g = std::ldexp(rng.uniform(-1, 1), -static_cast<int>(rng.below(20)));
  for (const Kind& kind : kinds()) {
    struct Outcome {
      Snapshot end;
      std::int64_t underflowed, absorbed;
      float norm;
      bool operator==(const Outcome&) const = default;
    };
    const auto run = [&](int count) {
      set_threads(count);
      const Tensor p = parameter(initial, f16);
      const auto optimizer = kind.make({p}, recipe(f16, f16, f16, f32));
      LossScaler scaler(StaticScaling{.factor = 64});
      Outcome outcome{};
      for (int t = 0; t < 5; ++t) {
        leave_gradient(p, gradient);
        Gradients gradients = optimizer->gradients();
        UnscaleResult check = scaler.unscale(gradients);
        outcome.norm = static_cast<float>(clip_norm(gradients, 0.5f).item());
        const DeviceValue<kernels::StepOutcome> result = optimizer->step(gradients, check);
        scaler.update(std::move(check));
        optimizer->zero_grad();
        outcome.underflowed = result.read().updates.underflowed;
        outcome.absorbed = result.read().updates.absorbed;
      }
      outcome.end = snapshot(*optimizer);
      return outcome;
    };
    const Outcome one = run(1);
    for (const int count : {2, 3, 7}) {
      INFO(kind.name << " with " << count << " threads");
      CHECK(run(count) == one);
    }
  }
  set_threads(usual);
}

TEST_CASE("moments in FP16 are rounded once, before the update reads them") {
  const std::vector<float> initial = {1, -0.5f, 0.25f, 2};
  const std::vector<float> gradients = {0x1.554p-3f, -0x1.998p-5f, 0x1p-14f, 0x1.ffcp-1f};
  const Tensor p = parameter(initial);
  Sgd optimizer({p}, {.lr = 0.1f, .momentum = 0.9f}, recipe(f32, f32, f32, f16));
  LossScaler scaler(NoScaling{});
  std::vector<float> weights = initial;
  std::vector<half> moments(4, half(0.0f));
  for (int t = 0; t < 20; ++t) {
    leave_gradient(p, gradients);
    run_step(optimizer, scaler);
    for (std::size_t i = 0; i < 4; ++i) {
      moments[i] = half(0.9f * static_cast<float>(moments[i]) + gradients[i]);
      weights[i] -= 0.1f * static_cast<float>(moments[i]);
    }
    CHECK(p.to_floats() == weights);
    for (std::size_t i = 0; i < 4; ++i)
      CHECK(optimizer.moments()[0].data<half>()[i].bits() == moments[i].bits());
  }
}

TEST_CASE("a learning rate that is no number is refused, and the message says so") {
  const auto p = [] { return std::vector{parameter({1})}; };
  CHECK_ERROR_SAYS("Sgd: the learning rate is nan", Sgd(p(), {.lr = not_a_number}));
  CHECK_ERROR_SAYS("Adam: the learning rate is inf", Adam(p(), {.lr = infinity}));
  CHECK_ERROR_SAYS("AdamW: the learning rate is -1", AdamW(p(), {.lr = -1}));
  CHECK_ERROR_SAYS("Adagrad: the learning rate is nan", Adagrad(p(), {.lr = not_a_number}));
  Sgd optimizer(p(), {.lr = 0.5f});
  CHECK_ERROR_SAYS("finite", optimizer.set_learning_rate(not_a_number));
  CHECK(optimizer.learning_rate() == 0.5f);
  optimizer.set_learning_rate(0);
  CHECK(optimizer.learning_rate() == 0);
}

TEST_CASE("a new learning rate counts from the next step on") {
  for (const Kind& kind : kinds()) {
    INFO(kind.name);
    const Tensor p = parameter({0.5f});
    const auto optimizer = kind.make({p}, {});
    LossScaler scaler(NoScaling{});
    optimizer->set_learning_rate(0);
    leave_gradient(p, {1});
    CHECK(run_step(*optimizer, scaler).read().taken);
    CHECK(p.to_floats()[0] == 0.5f);
    optimizer->set_learning_rate(0.25f);
    leave_gradient(p, {1});
    run_step(*optimizer, scaler);
    CHECK(p.to_floats()[0] < 0.5f);
  }
}

TEST_CASE("options outside their range are refused by name") {
  const auto p = [] { return std::vector{parameter({1})}; };
  for (const float momentum : {-0.1f, 1.0f, not_a_number})
    CHECK_ERROR_SAYS("momentum", Sgd(p(), {.momentum = momentum}));
  for (const float beta : {-0.1f, 1.0f, not_a_number}) {
    CHECK_ERROR_SAYS("beta1", Adam(p(), {.beta1 = beta}));
    CHECK_ERROR_SAYS("beta2", AdamW(p(), {.beta2 = beta}));
  }
  for (const float bad : {-1.0f, infinity, not_a_number}) {
    CHECK_ERROR_SAYS("weight_decay", Sgd(p(), {.weight_decay = bad}));
    CHECK_ERROR_SAYS("weight_decay", AdamW(p(), {.weight_decay = bad}));
    CHECK_ERROR_SAYS("weight_decay", Adagrad(p(), {.weight_decay = bad}));
    CHECK_ERROR_SAYS("epsilon", Adam(p(), {.epsilon = bad}));
    CHECK_ERROR_SAYS("epsilon", Adagrad(p(), {.epsilon = bad}));
  }
}

TEST_CASE("parameters that cannot be trained are refused") {
  CHECK_ERROR_SAYS("no parameters", Sgd({}, {}));
  CHECK_ERROR_SAYS("f16", Sgd({parameter({1})}, {}, recipe(f16, f16, f32, f32)));
  CHECK_ERROR_SAYS("require", Sgd({Tensor::from({1}, std::vector{1.0f})}, {}));
  const Tensor p = parameter({1, 2}), q = parameter({3});
  CHECK_ERROR_SAYS("twice", Sgd({p, q, p}, {}));
  const Sgd owner({p}, {});
  CHECK_ERROR_SAYS("another optimizer", Sgd({q, p}, {}));
  // Updates are FP32: a wider master or moment would quietly be no better.
  const DType f64 = DType::f64;
  CHECK_ERROR_SAYS("f64", Sgd({q}, {}, recipe(f32, f32, f64, f32)));
  CHECK_ERROR_SAYS("f64", Adam({q}, {}, recipe(f32, f32, f32, f64)));
}

TEST_CASE("AdamW decays by default, Adam does not") {
  const Tensor p = parameter({1}), q = parameter({1});
  Adam adam({p}, {.lr = 0.5f});
  AdamW adamw({q}, {.lr = 0.5f});
  LossScaler scaler(NoScaling{});
  leave_gradient(p, {0});
  run_step(adam, scaler);
  leave_gradient(q, {0});
  run_step(adamw, scaler);
  CHECK(p.to_floats()[0] == 1);
  CHECK(q.to_floats()[0] == 1 - 0.5f * 0.01f);
}

TEST_CASE("a refused optimizer has not touched the parameters") {
  const Tensor p = parameter({1, 2}), frozen = Tensor::from({1}, std::vector{1.0f});
  CHECK_ERROR_SAYS("require", Sgd({p, frozen}, {}));
  CHECK_ERROR_SAYS("momentum", Sgd({p}, {.momentum = 2}));
  CHECK_ERROR_SAYS("beta1", Adam({p}, {.beta1 = 2}));
  CHECK_FALSE(p.bound_grad());
  Sgd optimizer({p}, {.lr = 1});
  LossScaler scaler(NoScaling{});
  leave_gradient(p, {1, 1});
  CHECK(run_step(optimizer, scaler).read().taken);
  CHECK(p.to_floats() == std::vector<float>{0, 1});
}

TEST_CASE("the parameters of an optimizer that is gone can be trained by another") {
  // Fine-tuning: the same model, first one optimizer, then the next.
  const Tensor p = parameter({4});
  LossScaler scaler(NoScaling{});
  {
    Sgd first({p}, {.lr = 1});
    leave_gradient(p, {1});
    run_step(first, scaler);
  }
  CHECK(p.to_floats()[0] == 3);
  Adam second({p}, {.lr = 1});
  CHECK(p.to_floats()[0] == 3);
  leave_gradient(p, {1});
  run_step(second, scaler);
  CHECK(p.to_floats()[0] == Approx(2));
}

TEST_CASE("an optimizer saved and restored goes on bit for bit") {
  const Recipe recipes[] = {recipe(f32, f32, f32, f32), recipe(f16, f16, f32, f32),
                            recipe(f16, f16, f16, f16)};
  for (const Recipe& r : recipes) {
    for (const Kind& kind : kinds()) {
      INFO(kind.name << ", " << describe(r));
      Problem problem(19);
      const std::vector<Tensor> parameters = problem.parameters(r.compute);
      const auto optimizer = kind.make(parameters, r);
      LossScaler scaler(DynamicScaling{.initial = 64, .growth_interval = 4});
      const auto train = [](Optimizer& o, LossScaler& s, const std::vector<Tensor>& p, Problem from,
                            int steps) {
        for (int t = 0; t < steps; ++t) {
          from.next_gradients(p, s.factor());
          run_step(o, s);
        }
      };
      train(*optimizer, scaler, parameters, problem, 5);
      optimizer->set_learning_rate(0.003f);
      const Optimizer::State saved = optimizer->state();
      const ScaleState saved_scale = scaler.state();
      const Snapshot at_save = snapshot(*optimizer);
      train(*optimizer, scaler, parameters, Problem(23), 6);
      const Snapshot end = snapshot(*optimizer);
      REQUIRE(end != at_save);  // and `saved` holds copies, or the next lines would not come out

      Problem elsewhere(4);
      const std::vector<Tensor> others = elsewhere.parameters(r.compute);
      const auto other = kind.make(others, r);
      other->restore(saved);
      CHECK(snapshot(*other) == at_save);
      CHECK(others[0].to_floats()[5] == other->weights().to_floats()[5]);
      LossScaler other_scaler(DynamicScaling{.initial = 64, .growth_interval = 4});
      other_scaler.restore(saved_scale);
      train(*other, other_scaler, others, Problem(23), 6);
      CHECK(snapshot(*other) == end);
    }
  }
}

TEST_CASE("the state of another optimizer is refused, and nothing is changed by it") {
  const auto fresh = [](std::vector<float> w, DType state = f32) {
    return Adam({parameter(std::move(w))}, {.lr = 0.1f}, recipe(f32, f32, f32, state));
  };
  Adam adam = fresh({1, 2});
  const Snapshot before = snapshot(adam);
  const Sgd sgd({parameter({1, 2})}, {});
  CHECK_ERROR_SAYS("another optimizer", adam.restore(sgd.state()));
  CHECK_ERROR_SAYS("(3)", adam.restore(fresh({1, 2, 3}).state()));
  CHECK_ERROR_SAYS("moment", adam.restore(fresh({3, 4}, f16).state()));
  const Adam half_weights({parameter({1, 2}, f16)}, {}, recipe(f16, f16, f32, f32));
  CHECK_ERROR_SAYS("f16", adam.restore(half_weights.state()));
  Optimizer::State no_number = fresh({3, 4}).state();
  no_number.learning_rate = not_a_number;
  CHECK_ERROR_SAYS("learning rate", adam.restore(no_number));
  CHECK(snapshot(adam) == before);
}

TEST_CASE(
    "with fp32_norm_parameters a parameter that is FP32 is its own master, beside FP16 ones that have "
    "masters") {
  Recipe recipe = recipes::o2;
  recipe.scaling = NoScaling{};
  const Tensor weight = parameter({1, 2}, DType::f16), gamma = parameter({1.0001f, 3});
  Sgd sgd({weight, gamma}, {.lr = 0x1p-13f}, recipe);
  CHECK(gamma.to_floats() == std::vector<float>{1.0001f, 3});
  LossScaler scaler(NoScaling{});
  for (const Tensor& p : {weight, gamma}) leave_gradient(p, {-1, -1});
  run_step(sgd, scaler);
  CHECK(weight.to_floats() == std::vector<float>{1, 2});  // too small for FP16, and kept in the master
  CHECK(gamma.to_floats() == std::vector<float>{1.0001f + 0x1p-13f, 3 + 0x1p-13f});
  CHECK(sgd.master().to_floats() ==
        std::vector<float>{1 + 0x1p-13f, 2 + 0x1p-13f, 1.0001f + 0x1p-13f, 3 + 0x1p-13f});
  const Optimizer::State saved = sgd.state();
  for (const Tensor& p : {weight, gamma}) leave_gradient(p, {5, 5});
  run_step(sgd, scaler);
  sgd.restore(saved);
  CHECK(gamma.to_floats() == std::vector<float>{1.0001f + 0x1p-13f, 3 + 0x1p-13f});
  CHECK_ERROR_SAYS("a parameter is f32 but the recipe computes in f16",
                   Sgd({parameter({1})}, {}, recipes::fp16_master));
}

TEST_CASE("a state without tensors is refused") {
  Sgd sgd({parameter({1, 2})}, {});
  CHECK_ERROR_SAYS("restore", sgd.restore({}));
}

TEST_CASE("a moment that is no longer fed comes to 0, and is never subnormal on the way") {
  const kernels::SgdRule<true> sgd{.momentum = 0.9f, .weight_decay = 0};
  const auto adam = kernels::adam_rule<false>(0.9, 0.999, 1e-8f, 0);
  for (const float first : {1.0f, -3e-5f}) {
    float of_sgd[2] = {first, 0}, of_adam[2] = {first, 0};
    for (int step = 0; step < 1000; ++step) {
      sgd.moments(0, 0, of_sgd);
      adam.moments(0, 0, of_adam);
      for (const float m : {of_sgd[0], of_adam[0]}) CHECK((m == 0 || std::fabs(m) >= 0x1p-126f));
    }
    CHECK(of_sgd[0] == 0);
    CHECK(of_adam[0] == 0);
  }
  float small[2] = {0x1p-110f, 0};  // small, but kept
  sgd.moments(0, 0, small);
  CHECK(small[0] == 0.9f * 0x1p-110f);
}

}  // namespace
}  // namespace tinymp::test
