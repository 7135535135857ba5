#include <tests/catch.h>
#include <tests/optim/rig.h>
#include <tinymp/base/rng.h>
#include <tinymp/numeric/half.h>
#include <cmath>

/// Updates that the format swallows. Without a master, lr x g rounds to FP16 and so does the subtraction, as
/// on real hardware; an update can be lost in either place, and the two are counted apart:
///   underflowed  lr x g is not 0 in FP32, and 0 in the format
///   absorbed     the rounded update is not 0, but weight - update is the weight again
namespace tinymp::test {
namespace {

Recipe half_without_master() {
  Recipe r;
  r.compute = r.gradient = r.master = DType::f16;
  return r;
}

Recipe half_with_master() {
  Recipe r;
  r.compute = r.gradient = DType::f16;
  return r;
}

float random_magnitude(Rng& rng, int smallest, int largest) {
  const float x = rng.uniform(-2, 2);
  return std::ldexp(x,
                    smallest + static_cast<int>(rng.below(static_cast<std::uint64_t>(largest - smallest))));
}

TEST_CASE("FP16 weights without a master: lr x g rounds to FP16, then the subtraction does") {
  Rng rng(1);
  constexpr std::size_t n = 5000;
  std::vector<float> w(n), g(n);
  std::size_t fused_differs = 0;
  for (const float lr : {1.0f, 0.1f, 1e-3f}) {
    for (const float s : {1.0f, 1024.0f, 3.0f}) {
      for (float& x : w) x = static_cast<float>(half(random_magnitude(rng, -14, 2)));
      for (float& x : g) x = static_cast<float>(half(random_magnitude(rng, -20, 12)));
      const Tensor p = parameter(w, DType::f16);
      Sgd optimizer({p}, {.lr = lr}, half_without_master());
      LossScaler scaler(StaticScaling{.factor = s});
      leave_gradient(p, g);
      const kernels::UpdateCounts counts = run_step(optimizer, scaler).read().updates;

      const float factor = static_cast<float>(1 / static_cast<double>(s));
      kernels::UpdateCounts expected;
      std::size_t different = 0;
      for (std::size_t i = 0; i < n; ++i) {
        const float exact = lr * (g[i] * factor);
        const half before(w[i]), update(exact);
        const half after = before - update;
        expected.values += exact != 0;
        expected.underflowed += exact != 0 && update == half(0.0f);
        expected.absorbed += update != half(0.0f) && after == before;
        different += p.data<half>()[i].bits() != after.bits();
        fused_differs += after.bits() != half(w[i] - exact).bits();
      }
      INFO("lr " << lr << ", S " << s);
      CHECK(different == 0);
      CHECK(counts.values == expected.values);
      CHECK(counts.underflowed == expected.underflowed);
      CHECK(counts.absorbed == expected.absorbed);
      CHECK(expected.underflowed + expected.absorbed > 0);
    }
  }
  CHECK(fused_differs > 0);  // the two roundings are not one
}

/// One update u on a weight w, and what must become of it. lr is 1, so u is the gradient.
struct HandMade {
  const char* why;
  float w, u;
  float after;
  bool counts, underflows, absorbed;
};

void check_hand_made(const std::vector<HandMade>& cases, DType master, float lr, float s) {
  std::vector<float> w, g;
  kernels::UpdateCounts expected;
  for (const HandMade& c : cases) {
    w.push_back(c.w);
    g.push_back(c.u / lr * s);
    expected.values += c.counts;
    expected.underflowed += c.underflows;
    expected.absorbed += c.absorbed;
  }
  Recipe recipe;
  recipe.compute = recipe.master = master;  // no copy beside the weights
  const Tensor p = parameter(w, master);
  Sgd optimizer({p}, {.lr = lr}, recipe);
  LossScaler scaler(StaticScaling{.factor = s});
  leave_gradient(p, g);
  const kernels::UpdateCounts counts = run_step(optimizer, scaler).read().updates;
  const std::vector<float> after = p.to_floats();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    INFO(cases[i].why << ": " << cases[i].w << " - " << cases[i].u);
    CHECK(after[i] == cases[i].after);
  }
  CHECK(counts.values == expected.values);
  CHECK(counts.underflowed == expected.underflowed);
  CHECK(counts.absorbed == expected.absorbed);
}

TEST_CASE("lost updates in FP16, by hand") {
  const std::vector<HandMade> cases = {
      {"no update", 1, 0, 1, false, false, false},
      {"no update, with a sign", 1, -0.0f, 1, false, false, false},
      {"an ordinary one", 1, 0.25f, 0.75f, true, false, false},
      {"half a step below the smallest FP16: a tie, to 0", 1, 0x1p-25f, 1, true, true, false},
      {"the same on a weight of 0", 0, 0x1p-25f, 0, true, true, false},
      {"far below", 0, -0x1p-60f, 0, true, true, false},
      {"just above the tie: the smallest FP16, absorbed by 1", 1, 0x1.8p-25f, 1, true, false, true},
      {"and not by 0", 0, 0x1.8p-25f, -0x1p-24f, true, false, false},
      {"half a step above 1: a tie, to even", 1, -0x1p-11f, 1, true, false, true},
      {"a little more", 1, -0x1.004p-11f, 1 + 0x1p-10f, true, false, false},
      {"the same distance below 1, where steps are finer", 1, 0x1p-11f, 1 - 0x1p-11f, true, false, false},
      {"half of those: a tie, to even", 1, 0x1p-12f, 1, true, false, true},
      {"a tie away from an odd weight", 1 + 0x1p-10f, -0x1p-11f, 1 + 0x1p-9f, true, false, false},
      {"1 at 2048 is half a step: to even", 2048, -1, 2048, true, false, true},
      {"at 2050, which is odd, it is not lost", 2050, -1, 2052, true, false, false},
  };
  check_hand_made(cases, DType::f16, 1, 1);
  check_hand_made(cases, DType::f16, 0x1p-6f, 1);  // it is lr x g that counts
  check_hand_made(cases, DType::f16, 1, 32);       // and not S
  check_hand_made(cases, DType::f16, 0x1p-6f, 32);
}

TEST_CASE("lost updates in FP32, by hand: there is nothing to round, so none underflows") {
  check_hand_made({{"no update", 1, 0, 1, false, false, false},
                   {"what FP16 cannot hold", 0, 0x1p-60f, -0x1p-60f, true, false, false},
                   {"the smallest float", 0, 0x1p-149f, -0x1p-149f, true, false, false},
                   {"absorbed: a tie, to even", 1, -0x1p-24f, 1, true, false, true},
                   {"absorbed", 1, 0x1p-26f, 1, true, false, true},
                   {"just not", 1, 0x1p-24f, 1 - 0x1p-24f, true, false, false}},
                  DType::f32, 1, 1);
}

TEST_CASE("counts add up over every block and thread") {
  constexpr std::size_t n = 50'000;
  const std::vector<float> g = {0x1p-24f, -0x1p-12f, 0.25f, 0,
                                0x1p-12f};  // lr 1/2: lost, absorbed twice, moved, none
  std::vector<float> w(n, 1.0f), gradient(n);
  for (std::size_t i = 0; i < n; ++i) gradient[i] = g[i % 5];
  const Tensor p = parameter(w, DType::f16);
  Sgd optimizer({p}, {.lr = 0.5f}, half_without_master());
  LossScaler scaler(NoScaling{});
  leave_gradient(p, gradient);
  const kernels::UpdateCounts counts = run_step(optimizer, scaler).read().updates;
  CHECK(counts.values == 40'000);
  CHECK(counts.underflowed == 10'000);
  CHECK(counts.absorbed == 20'000);
}

TEST_CASE("the master keeps what FP16 weights lose") {
  // A quarter of a step of FP16 below 1, a hundred times: without a master nothing ever happens.
  const Tensor alone = parameter({1}, DType::f16), model = parameter({1}, DType::f16);
  Sgd without({alone}, {.lr = 1}, half_without_master()), with({model}, {.lr = 1}, half_with_master());
  LossScaler first(NoScaling{}), second(NoScaling{});
  for (int t = 0; t < 100; ++t) {
    leave_gradient(alone, {0x1p-13f});
    leave_gradient(model, {0x1p-13f});
    CHECK(run_step(without, first).read().updates.absorbed == 1);
    CHECK(run_step(with, second).read().updates.absorbed == 0);
  }
  CHECK(alone.to_floats()[0] == 1);
  CHECK(with.master().to_floats()[0] == 1 - 100 * 0x1p-13f);
  CHECK(model.to_floats()[0] == static_cast<float>(half(1 - 100 * 0x1p-13f)));
}

TEST_CASE("who has a master, and where it lies") {
  const Tensor p = parameter({1, 2}, DType::f16), q = parameter({1, 2}, DType::f16);
  const Sgd without({p}, {}, half_without_master()), with({q}, {}, half_with_master());
  CHECK(without.master().view().memory == without.weights().view().memory);
  CHECK(with.master().view().memory != with.weights().view().memory);
  CHECK(with.master().dtype() == DType::f32);
  CHECK(with.master().to_floats() == std::vector<float>{1, 2});
  CHECK(with.weights().dtype() == DType::f16);
}

}  // namespace
}  // namespace tinymp::test
