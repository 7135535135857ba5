#include <tests/catch.h>
#include <tests/optim/rig.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/numeric/rounded.h>
#include <tinymp/optim/optimizers.h>
#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>

/// Updates that are rounded in other ways than to nearest, bit for bit against the definitions, written down anew: the
/// neighbours of a number come from the list of all numbers of a format, random words from SplitMix64.
namespace tinymp::test {
namespace {

// What the documents say, in other words
// --------------------------------------------------------------

std::uint64_t scrambled(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}
constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
std::uint64_t stream_of(std::uint64_t seed, std::uint64_t stream) {
  return scrambled(scrambled(~seed) + stream * golden);
}
/// `purpose`: 0 for masters, 1 for weights.
std::uint32_t word_of(std::uint64_t seed, std::uint64_t step, std::uint64_t purpose, std::uint64_t place) {
  const std::uint64_t key = stream_of(stream_of(seed, step), purpose);
  return static_cast<std::uint32_t>(scrambled(key + (place + 1) * golden) >> 32);
}

/// The numbers of a format that are not negative, upwards, and behind the largest the one that is infinite.
class Numbers {
 public:
  explicit Numbers(DType format) {
    for (std::uint16_t bits = 0;; ++bits) {
      const double value = format == DType::f16
                               ? static_cast<double>(static_cast<float>(half::from_bits(bits)))
                               : static_cast<double>(static_cast<float>(bfloat16::from_bits(bits)));
      if (!std::isfinite(value)) break;
      all_.push_back(value);
    }
    all_.push_back(2 * all_.back() - all_[all_.size() - 2]);
  }

  float rounded(float x, Rounding mode, std::uint32_t random = 0) const {
    if (!std::isfinite(x)) return x;
    const double size = std::abs(static_cast<double>(x));
    const std::size_t last = all_.size() - 1;
    if (size >= all_[last])
      return std::copysign(static_cast<float>(mode == Rounding::toward_zero ? all_[last - 1] : INFINITY), x);
    const auto above = std::upper_bound(all_.begin(), all_.end(), size);
    const auto hi = static_cast<std::size_t>(above - all_.begin()), lo = hi - 1;
    const double part = (size - all_[lo]) / (all_[hi] - all_[lo]);
    bool up = false;
    if (mode == Rounding::nearest_even) up = part > 0.5 || (part == 0.5 && lo % 2 == 1);
    if (mode == Rounding::stochastic) up = static_cast<double>(random) < std::floor(0x1p32 * part);
    const double value = up ? (hi == last ? INFINITY : all_[hi]) : all_[lo];
    return std::copysign(static_cast<float>(value), x);
  }

 private:
  std::vector<double> all_;
};

struct Rule {
  DType format;
  Rounding masters;
  bool kahan;
};
std::vector<Rule> rules() {
  std::vector<Rule> all;
  for (const DType format : {DType::f16, DType::bf16}) {
    all.push_back({format, Rounding::toward_zero, false});
    all.push_back({format, Rounding::stochastic, false});
    all.push_back({format, Rounding::nearest_even, true});
  }
  return all;
}

Recipe recipe_of(const Rule& rule) {
  return {.compute = rule.format,
          .gradient = DType::f32,
          .master = rule.format,
          .rounding = {.masters = rule.masters},
          .kahan = rule.kahan};
}

/// The weights of one run of SGD without momentum, and what its last update lost.
struct Weights {
  std::vector<float> w, kept;
  kernels::UpdateCounts lost;

  void move(const Rule& rule, const Numbers& numbers, std::uint64_t seed, std::uint64_t step,
            const std::vector<float>& updates) {
    lost = {};
    for (std::size_t i = 0; i < w.size(); ++i) {
      const float was = w[i], u = updates[i] + 0 * was;  // an infinite weight has no update: decay is 0 * w
      bool same = true;
      if (rule.kahan) {
        const auto near = [&](float x) { return numbers.rounded(x, Rounding::nearest_even); };
        const float k1 = near(kept[i] - u), next = near(was + k1), k = near(k1 + near(was - next));
        same = k == kept[i];
        w[i] = next, kept[i] = k;
      } else {
        w[i] = numbers.rounded(was - u, rule.masters, word_of(seed, step, 0, i));
      }
      lost.values += u != 0;
      lost.absorbed += u != 0 && w[i] == was && same;
    }
  }
};

// --------------------------------------------------------------

/// Sizes from far below the smallest weight to far above, some 0.
std::vector<float> drawn_numbers(std::int64_t n, std::uint64_t seed, float smallest, float largest) {
  Rng rng(seed);
  std::vector<float> values;
  for (std::int64_t i = 0; i < n; ++i) {
    const float exponent = rng.uniform(std::log2(smallest), std::log2(largest));
    const float sign = rng.uniform(-1, 1);
    values.push_back(i % 17 == 3 ? 0 : std::copysign(std::exp2(exponent), sign));
  }
  return values;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y) || (x != x && y != y);
  });
}

constexpr std::uint64_t a_seed = 20, steps = 12;

TEST_CASE("rounded updates: every bit, in every way and format, as the definitions have it") {
  for (const Rule& rule : rules()) {
    const Numbers numbers(rule.format);
    for (const std::int64_t n : {1, 5, 1024, 1025, 3001}) {
      INFO(rule.format << ", " << name_of(rule.masters) << (rule.kahan ? ", Kahan, " : ", ") << n);
      // FP16's subnormals and its largest numbers are among them.
      const Tensor start = Tensor::from({n}, drawn_numbers(n, 1, 1e-7f, 7e4f), rule.format);
      const Tensor p = Tensor::from({n}, start.to_floats(), rule.format).set_requires_grad(true);
      Sgd sgd({p}, {.lr = 0.5f}, recipe_of(rule));
      sgd.set_rounding_seed(a_seed);
      LossScaler scaler(NoScaling{});
      Weights right{start.to_floats(), std::vector<float>(static_cast<std::size_t>(n)), {}};
      for (std::uint64_t t = 1; t <= steps; ++t) {
        const std::vector<float> g = drawn_numbers(n, 100 + t, 1e-9f, 3e3f);
        std::vector<float> updates;
        for (const float x : g) updates.push_back(0.5f * x);
        leave_gradient(p, g);
        const kernels::StepOutcome report = run_step(sgd, scaler).read();
        right.move(rule, numbers, a_seed, t, updates);
        REQUIRE(same_bits(p.to_floats(), right.w));
        if (rule.kahan) REQUIRE(same_bits(sgd.moments().back().to_floats(), right.kept));
        CHECK(report.updates.values == right.lost.values);
        CHECK(report.updates.underflowed == 0);
        CHECK(report.updates.absorbed == right.lost.absorbed);
      }
    }
  }
}

TEST_CASE("rounded updates: an FP32 master is rounded into the weights as the recipe says") {
  for (const DType format : {DType::f16, DType::bf16}) {
    for (const Rounding mode : {Rounding::toward_zero, Rounding::stochastic}) {
      INFO(format << ", " << name_of(mode));
      const Numbers numbers(format);
      const std::int64_t n = 2500;
      const Tensor p = Tensor::from({n}, drawn_numbers(n, 2, 1e-7f, 1e4f), format).set_requires_grad(true);
      Sgd sgd({p}, {.lr = 1}, {.compute = format, .rounding = {.weights = mode}});
      sgd.set_rounding_seed(a_seed);
      LossScaler scaler(NoScaling{});
      for (std::uint64_t t = 1; t <= 5; ++t) {
        const std::vector<float> before = sgd.master().to_floats(), g = drawn_numbers(n, 50 + t, 1e-6f, 1);
        leave_gradient(p, g);
        run_step(sgd, scaler);
        const std::vector<float> master = sgd.master().to_floats(), weights = p.to_floats();
        for (std::size_t i = 0; i < weights.size(); ++i) {
          REQUIRE(master[i] == before[i] - g[i]);
          REQUIRE(weights[i] == numbers.rounded(master[i], mode, word_of(a_seed, t, 1, i)));
        }
      }
    }
  }
}

TEST_CASE("rounded updates: the mean of stochastic updates is the update, below the smallest number too") {
  struct Case {
    DType format;
    float w, u;
  };
  constexpr std::int64_t n = 1'000'000;
  for (const Case& c :
       {Case{DType::bf16, 1, 0.001f}, Case{DType::bf16, -0.5f, 1e-6f}, Case{DType::f16, 0.0301f, 3e-6f},
        Case{DType::f16, 0, 2e-9f}, Case{DType::f16, 0x1p-20f, 0x1.8p-26f}, Case{DType::bf16, 3, -0.02f}}) {
    INFO(c.format << ", " << c.w << " - " << c.u);
    const Tensor p = parameter(std::vector<float>(n, c.w), c.format);
    Sgd sgd({p}, {.lr = 1}, recipe_of({c.format, Rounding::stochastic, false}));
    sgd.set_rounding_seed(7);
    const auto w = static_cast<double>(p.to_floats()[0]);
    LossScaler scaler(NoScaling{});
    leave_gradient(p, std::vector<float>(n, c.u));
    run_step(sgd, scaler);
    double sum = 0, squares = 0;
    for (const float next : p.to_floats()) {
      const double moved = static_cast<double>(next) - w;
      sum += moved;
      squares += moved * moved;
    }
    const double mean = sum / n, error = std::sqrt((squares / n - mean * mean) / n);
    const auto exact = static_cast<double>(static_cast<float>(w) - c.u) - w;
    REQUIRE(error > 0);
    CHECK(std::abs(mean - exact) <= 5.5 * error);
  }
}

/// The weights after each of three equal updates, which no weight holds whole.
std::vector<std::vector<float>> three_steps(std::uint64_t seed, bool same_words = false) {
  const std::int64_t n = 4000;
  const Tensor p = parameter(std::vector<float>(n, 1), DType::bf16);
  Sgd sgd({p}, {.lr = 1}, recipes::bf16_sr);
  sgd.set_rounding_seed(seed);
  sgd.set_same_words_each_step(same_words);
  LossScaler scaler(NoScaling{});
  std::vector<std::vector<float>> moved;
  std::vector<float> before = p.to_floats();
  for (int t = 0; t < 3; ++t) {
    leave_gradient(p, std::vector<float>(n, -0x1p-10f));  // an eighth of the distance to the next number
    run_step(sgd, scaler);
    std::vector<float> now = p.to_floats(), by;
    for (std::size_t i = 0; i < now.size(); ++i) by.push_back(now[i] - before[i]);
    moved.push_back(by);
    before = now;
  }
  return moved;
}

TEST_CASE("rounded updates: words differ between steps and seeds, and do not between runs") {
  const auto one = three_steps(1);
  CHECK(three_steps(1) == one);
  CHECK(three_steps(2) != one);
  CHECK(one[0] != one[1]);
  CHECK(one[1] != one[2]);
  const auto same = three_steps(1, true);
  CHECK(same[0] == same[1]);  // the mistake: the same weights move each time
  CHECK(same[1] == same[2]);
}

TEST_CASE("rounded updates: the same bits with any number of threads") {
  const int usual = threads();
  for (const Recipe& recipe : {recipes::bf16_sr, recipes::fp16_sr, recipes::bf16_kahan}) {
    std::optional<Snapshot> first;
    for (const int count : {1, 2, 3, 4, 5, 6, 7}) {
      set_threads(count);
      const std::int64_t n = 200'000;
      const Tensor p =
          Tensor::from({n}, drawn_numbers(n, 3, 1e-4f, 1), recipe.compute).set_requires_grad(true);
      Adam adam({p}, {.lr = 1e-4f}, recipe);
      LossScaler scaler(NoScaling{});
      for (std::uint64_t t = 0; t < 3; ++t) {
        leave_gradient(p, drawn_numbers(n, t, 1e-5f, 1));
        run_step(adam, scaler);
      }
      const Snapshot now = snapshot(adam);
      if (!first) first = now;
      INFO(describe(recipe) << ", " << count << " threads");
      CHECK(now == *first);
    }
  }
  set_threads(usual);
}

TEST_CASE("rounded updates: a restored optimizer goes on with the same bits") {
  for (const Recipe& recipe : {recipes::bf16_sr, recipes::bf16_kahan}) {
    const std::int64_t n = 500;
    const auto make = [&] {
      return Tensor::from({n}, drawn_numbers(n, 3, 1e-3f, 1), recipe.compute).set_requires_grad(true);
    };
    const auto steps_of = [&](Adam& adam, const Tensor& p, std::uint64_t from, std::uint64_t to) {
      LossScaler scaler(NoScaling{});
      for (std::uint64_t t = from; t < to; ++t) {
        leave_gradient(p, drawn_numbers(n, t, 1e-5f, 1));
        run_step(adam, scaler);
      }
    };
    const Tensor p = make(), q = make();
    Adam whole({p}, {.lr = 1e-4f}, recipe), second({q}, {.lr = 1e-4f}, recipe);
    whole.set_rounding_seed(5);
    second.set_rounding_seed(5);
    steps_of(whole, p, 0, 4);
    const Optimizer::State state = whole.state();
    CHECK(state.moments.size() == (recipe.kahan ? 3u : 2u));
    steps_of(whole, p, 4, 9);
    second.restore(state);
    steps_of(second, q, 4, 9);
    CHECK(snapshot(second) == snapshot(whole));
  }
}

TEST_CASE("rounded updates: Kahan's compensation keeps what a BF16 weight cannot hold") {
  const auto after = [](const Recipe& recipe) {
    const Tensor p = parameter(std::vector<float>(1, 1), DType::bf16);
    Sgd sgd({p}, {.lr = 1}, recipe);
    LossScaler scaler(NoScaling{});
    for (int t = 0; t < 5000; ++t) {
      leave_gradient(p, {1e-4f});
      run_step(sgd, scaler);
    }
    return static_cast<double>(p.to_floats()[0]);
  };
  CHECK(after(recipes::bf16_weights) == 1);
  CHECK(std::abs(after(recipes::bf16_kahan) - 0.5) < 0.01);
  CHECK(std::abs(after(recipes::bf16_sr) - 0.5) < 0.1);
}

TEST_CASE("rounded updates: exact_updates are the rule's, beside a compensation") {
  const Tensor p = parameter(std::vector<float>(4, 1), DType::bf16);
  Adam adam({p}, {.lr = 1e-3f}, recipes::bf16_kahan);
  CHECK(adam.moments().size() == 3);
  CHECK(adam.moments().back().dtype() == DType::bf16);
  const Tensor before = Tensor::from({4}, adam.master().to_floats(), DType::bf16);
  leave_gradient(p, {1, -1, 0.5f, 0});
  Gradients gradients = adam.gradients();
  LossScaler scaler(NoScaling{});
  UnscaleResult check = scaler.unscale(gradients);
  adam.step(gradients, check);
  const std::vector<float> updates = adam.exact_updates(gradients, before);
  for (const std::size_t i : {0u, 1u, 2u}) CHECK(std::abs(std::abs(updates[i]) - 1e-3f) < 1e-7f);
  CHECK(updates[3] == 0);
}

TEST_CASE("rounded updates: what makes no sense is refused, and the message tells how to mend it") {
  const auto made = [](Recipe recipe) {
    const Tensor p = parameter(std::vector<float>(2, 1), recipe.compute);
    Sgd sgd({p}, {.lr = 1}, recipe);
  };
  const Recipe narrow{.compute = DType::bf16, .master = DType::bf16};
  const auto with = [&](auto change) {
    Recipe recipe = narrow;
    change(recipe);
    return recipe;
  };
  const Rounding random = Rounding::stochastic;
  CHECK_NOTHROW(made(with([&](Recipe& r) { r.rounding.masters = random; })));
  CHECK_NOTHROW(made(with([](Recipe& r) { r.kahan = true; })));
  CHECK_ERROR_SAYS("take a master of f16 or bf16", made({.rounding = {.masters = random}}));
  CHECK_ERROR_SAYS("take a master of f16 or bf16", made({.kahan = true}));
  CHECK_ERROR_SAYS("take one of the two",
                   made(with([&](Recipe& r) { r.kahan = true, r.rounding.masters = random; })));
  CHECK_ERROR_SAYS("or round masters", made(with([&](Recipe& r) { r.rounding.weights = random; })));
  CHECK_ERROR_SAYS("rounds weights stochastic", made({.rounding = {.weights = random}}));
  CHECK_ERROR_SAYS("choose nearest, zero or stochastic",
                   made(with([](Recipe& r) { r.rounding.masters = Rounding::up; })));
  for (const auto member : {&Roundings::activations, &Roundings::errors, &Roundings::gradients})
    CHECK_ERROR_SAYS("leave their rounding at nearest",
                     made(with([&](Recipe& r) { r.rounding.*member = random; })));
}

}  // namespace
}  // namespace tinymp::test
