#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/meters.h>
#include <cmath>
#include <limits>
#include <map>
#include <set>

/// Histograms against a count by hand: in double, with the C library's frexp and ilogb, and FP16's limits as
/// numbers.
namespace tinymp::test {
namespace {

using train::GradientSizes;
using train::Histogram;
using train::StepSizes;
using train::UpdateSizes;

constexpr double infinity = std::numeric_limits<double>::infinity();

int ceil_log2(double x) {
  int exponent = 0;
  return std::frexp(std::abs(x), &exponent) == 0.5 ? exponent - 1 : exponent;  // |x| = f 2^e, 0.5 <= f < 1
}

/// What a histogram should say, one count an exponent.
struct ByHand {
  std::int64_t zeros = 0, nonfinite = 0;
  std::map<int, std::int64_t> counts{};

  void add(double x, int exponent) {
    if (x == 0) {
      ++zeros;
    } else if (!std::isfinite(x)) {
      ++nonfinite;
    } else {
      ++counts[exponent];
    }
  }
};

void check_same(const Histogram& found, const ByHand& expected) {
  CHECK(found.zeros == expected.zeros);
  CHECK(found.nonfinite == expected.nonfinite);
  std::map<int, std::int64_t> counts;
  for (int e = found.first; e < found.first + static_cast<int>(found.counts.size()); ++e)
    if (found.at(e) > 0) counts[e] = found.at(e);
  CHECK(counts == expected.counts);
  if (!found.counts.empty()) CHECK((found.counts.front() > 0 && found.counts.back() > 0));
  std::int64_t sum = 0;
  for (int e = -320; e <= 320; ++e) {
    if (const auto at = expected.counts.find(e); at != expected.counts.end()) sum += at->second;
    CHECK(found.up_to(e) == sum);
  }
  CHECK(found.sized() == sum);
  CHECK(found.nonzero() == sum + expected.nonfinite);
  CHECK(found.values() == sum + expected.nonfinite + expected.zeros);
}

void check_gradients(const GradientSizes& found, const std::vector<double>& wide,
                     const std::vector<double>& own, double scale) {
  ByHand sizes;
  std::int64_t subnormal = 0, overflowed = 0, flushed = 0;
  double largest = 0;
  std::map<int, std::int64_t> below;  // for 2^k times the S
  for (std::size_t i = 0; i < wide.size(); ++i) {
    const double x = std::abs(wide[i] * scale);
    sizes.add(x, x > 0 && std::isfinite(x) ? ceil_log2(x) : 0);
    flushed += wide[i] != 0 && own[i] == 0;
    if (!std::isfinite(x)) continue;
    largest = std::max(largest, x);
    subnormal += x > 0x1p-25 && x < 0x1p-14 - 0x1p-25;  // the middle below 2^-14 goes to the even 2^-14
    overflowed += x >= 65520;                           // the middle between 65504 and 65536
    for (int k = -12; k <= 30; ++k) below[k] += x > 0 && std::ldexp(x, k) <= 0x1p-25;
  }
  check_same(found.sizes, sizes);
  CHECK(found.largest == largest);
  CHECK(found.subnormal == subnormal);
  CHECK(found.overflowed == overflowed);
  CHECK(found.flushed == flushed);
  for (int k = -12; k <= 30; ++k) {
    CHECK(found.below_fp16(k) == below[k]);
    CHECK(found.saved_by(k) == below[0] - below[k]);
  }
  const int k = found.overflows_from();
  if (largest > 0) {
    CHECK(std::ldexp(largest, k) >= 65520);
    CHECK(std::ldexp(largest, k - 1) < 65520);
  }
}

void check_updates(const UpdateSizes& found, const std::vector<float>& updates,
                   const std::vector<float>& before, const std::vector<float>& after, DType master) {
  ByHand ratios;
  std::int64_t underflowed = 0, absorbed = 0, beyond = 0, beyond_bf16 = 0;
  for (std::size_t i = 0; i < updates.size(); ++i) {
    if (updates[i] == 0) continue;
    const long double ratio = std::abs(static_cast<long double>(before[i]) / updates[i]);
    const bool counts = std::isfinite(updates[i]) && std::isfinite(before[i]);
    ratios.add(counts ? static_cast<double>(ratio) : infinity, counts && ratio > 0 ? std::ilogb(ratio) : 0);
    beyond += counts && ratio >= 2048, beyond_bf16 += counts && ratio >= 256;
    // Up to here the format rounds to zero.
    const double tiniest = master == DType::f16 ? 0x1p-25 : master == DType::bf16 ? 0x1p-134 : 0;
    const bool vanishes = std::abs(static_cast<double>(updates[i])) <= tiniest;
    underflowed += vanishes;
    absorbed += !vanishes && before[i] == after[i];
  }
  check_same(found.ratios, ratios);
  CHECK(found.underflowed == underflowed);
  CHECK(found.absorbed == absorbed);
  CHECK(found.beyond_2048() == beyond);
  CHECK(found.beyond_256() == beyond_bf16);
}

/// Numbers of all sizes and both signs, the edges among them, as a tensor of the format has them.
Tensor numbers(DType dtype, std::int64_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values = {0.0f,
                               -0.0f,
                               0x1p-25f,
                               -0x1p-25f,
                               0x1.000002p-25f,
                               0x1.fffffep-26f,
                               0x1p-24f,
                               0x1p-14f,
                               0x1.ffcp-15f,
                               -0x1.ffap-15f,
                               0x1.ffdp-15f,
                               65504,
                               -65519,
                               65520,
                               65536,
                               0x1p-149f,
                               -0x1.8p-130f,
                               0x1p-126f,
                               0x1.fffffep127f,
                               1,
                               -2,
                               0.75f,
                               std::numeric_limits<float>::infinity(),
                               -std::numeric_limits<float>::infinity(),
                               std::numeric_limits<float>::quiet_NaN()};
  while (std::ssize(values) < count) {
    const int exponent = static_cast<int>(rng.below(90)) - 60;
    const float fraction = static_cast<float>(rng.below(1 << 12)) - 2048;  // zero and powers of two come up
    values.push_back(std::ldexp(fraction, exponent));
  }
  return Tensor::from({static_cast<std::int64_t>(values.size())}, values, dtype);
}

TEST_CASE("exponents out of the bits are those of frexp and ilogb") {
  std::vector<double> all;
  for (int e = -298; e <= 256; ++e) {
    for (const double f : {1.0, 0x1.0000000000001p0, 1.5, 0x1.fffffffffffffp0})
      all.insert(all.end(), {std::ldexp(f, e), -std::ldexp(f, e)});
  }
  for (const double x : numbers(DType::f32, 4000, 1).to_doubles()) {
    if (x != 0 && std::isfinite(x)) all.push_back(x);
  }
  for (const double x : all) {
    INFO(x);
    REQUIRE(train::exponent_above(x) == ceil_log2(x));
    REQUIRE(train::exponent_below(x) == std::ilogb(x));
  }
}

TEST_CASE("the sizes of gradients are those of a count by hand: every format, many scales") {
  for (const DType wide : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
    for (const double scale : {1.0, 1024.0, 0x1p-9, 0x1p24, 3.7, 0.1}) {
      const Tensor exact = numbers(wide, 3000, 2), own = numbers(DType::f16, 3000, 3);
      INFO(name_of(wide) << " times " << scale);
      check_gradients(train::gradient_sizes(exact, own, scale), exact.to_doubles(), own.to_doubles(), scale);
    }
  }
  const Tensor none = Tensor::from({3}, std::vector<float>{0, -0.0f, 0});
  check_gradients(train::gradient_sizes(none, none, 8), none.to_doubles(), none.to_doubles(), 8);
  CHECK(train::gradient_sizes(none, none, 8).sizes == Histogram{.zeros = 3});
}

TEST_CASE("at the edges: 2^-25 is flushed and the next float is not, 65520 overflows and 65519 does not") {
  const auto of = [](float x) {
    const Tensor one = Tensor::from({1}, std::vector<float>{x});
    return train::gradient_sizes(one, one, 1);
  };
  CHECK(of(0x1p-25f).below_fp16() == 1);
  CHECK(of(0x1.000002p-25f).below_fp16() == 0);
  CHECK(of(0x1.000002p-25f).subnormal == 1);
  CHECK(of(0x1p-28f).saved_by(3) == 0);  // 8 times this is 2^-25, still nothing
  CHECK(of(0x1.000002p-28f).saved_by(3) == 1);
  CHECK(of(65519).overflowed == 0);
  CHECK(of(65520).overflowed == 1);
  CHECK(of(65520).overflows_from() == 0);
  CHECK(of(32760).overflows_from() == 1);
  CHECK(of(0x1p-20f).overflows_from() == 36);
}

TEST_CASE("histograms add up") {
  const Tensor a = numbers(DType::f32, 500, 4), b = numbers(DType::f16, 300, 5);
  std::vector<double> both = a.to_doubles();
  for (const double x : b.to_doubles()) both.push_back(x);
  for (const bool turned : {false, true}) {
    GradientSizes sum = train::gradient_sizes(turned ? b : a, turned ? b : a, 4);
    sum += train::gradient_sizes(turned ? a : b, turned ? a : b, 4);
    check_gradients(sum, both, both, 4);
  }
  GradientSizes sum;
  sum += train::gradient_sizes(a, a, 4);
  CHECK(sum == train::gradient_sizes(a, a, 4));
}

TEST_CASE("the sizes of updates are those of a count by hand") {
  for (const DType master : {DType::f32, DType::f16, DType::bf16}) {
    const std::vector<float> before = numbers(master, 3000, 6).to_floats();
    const std::vector<float> updates = numbers(DType::f32, 3000, 7).to_floats();
    std::vector<float> differences;
    const std::vector<float> rounded = Tensor::from({3000}, updates, master).to_floats();
    for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(before[i] - rounded[i]);
    const std::vector<float> after = Tensor::from({3000}, differences, master).to_floats();
    const UpdateSizes found = train::update_sizes({updates, before, after, master});
    INFO(name_of(master));
    check_updates(found, updates, before, after, master);
  }
}

/// Two layers, one batch, one step; what was looked at, and everything it can be held against.
struct Recorded {
  StepSizes sizes;
  std::vector<Tensor> parameters, wide;
  std::vector<std::vector<double>> own;  ///< gradients
  std::vector<float> updates, before, after;
  kernels::StepOutcome report;
};

template <class Kind>
Recorded record(const Recipe& recipe, typename Kind::Options options, int steps) {
  const data::Split data = made_up_split();
  data::Loader loader(data.train, 32, 1, {});
  Rng rng(1), again(1);
  const nn::Mlp model({784, 12, 10}, recipe, rng);
  auto wide = std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 12, 10}, recipes::fp32, again);
  const std::vector<Tensor> followed = tensors(wide->parameters());
  train::Shadow shadow(std::move(wide));
  Kind optimizer(tensors(model.parameters()), options, recipe);
  LossScaler scaler(recipe.scaling);
  Recorded result;
  for (int step = 1; step <= steps; ++step) {
    const data::Batch batch = loader.next();
    shadow.follow(model);
    {
      Tape tape;
      tape.backward(scaler.scale(train::loss_of(train::Task::classify, model, batch)));
    }
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    static_cast<void>(clip_norm(gradients, 0.5f));
    const double scale = scaler.last_factor().item();
    train::StepHistograms histograms(step, scale, train::Task::classify, model, {&batch, 1}, &shadow,
                                     train::masters_of(optimizer));
    result = {};
    for (const Tensor& p : tensors(model.parameters())) result.own.push_back(p.grad().to_doubles());
    result.before = optimizer.master().to_floats();
    const Tensor before = Tensor::from(optimizer.master().shape(), result.before, recipe.master);
    const DeviceValue<kernels::StepOutcome> taken = optimizer.step(gradients, check);
    histograms.add_updates(optimizer, gradients);
    result.updates = optimizer.exact_updates(gradients, before);
    result.after = optimizer.master().to_floats();
    result.report = taken.read();
    result.sizes = histograms.sizes();
    result.parameters = tensors(model.parameters());
    scaler.update(std::move(check));
    optimizer.zero_grad();
    // The shadow's gradients once more, by itself: it still has the weights from before the step.
    for (const Tensor& p : followed) p.clear_grad();
    Rng third(1);
    nn::Mlp copy({784, 12, 10}, recipes::fp32, third);
    std::vector<Tensor> copied = tensors(copy.parameters());
    for (std::size_t i = 0; i < copied.size(); ++i) {
      const std::vector<float> values = followed[i].to_floats();
      std::copy(values.begin(), values.end(), copied[i].data<float>());
    }
    Tape tape;
    tape.backward(train::loss_of(train::Task::classify, copy, batch));
    for (const Tensor& p : copied) result.wide.push_back(p.grad());
  }
  return result;
}

void check_recorded(const Recorded& r, const Recipe& recipe) {
  REQUIRE(r.sizes.parameters.size() == 4);
  CHECK(r.sizes.parameters[0].name == "layer 1 weight");
  CHECK(r.sizes.parameters[3].name == "layer 2 bias");
  std::size_t begin = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    const train::ParameterSizes& found = r.sizes.parameters[i];
    check_gradients(found.gradients, r.wide[i].to_doubles(), r.own[i], r.sizes.scale);
    const auto part = [&](const std::vector<float>& all) {
      const auto from = all.begin() + static_cast<std::ptrdiff_t>(begin);
      return std::vector<float>(from, from + static_cast<std::ptrdiff_t>(r.own[i].size()));
    };
    REQUIRE(found.updates);
    check_updates(*found.updates, part(r.updates), part(r.before), part(r.after), recipe.master);
    begin += r.own[i].size();
  }
  // The optimizer counts for itself.
  const UpdateSizes all = *r.sizes.updates();
  CHECK(all.ratios.values() == r.report.updates.values);
  CHECK(all.underflowed == r.report.updates.underflowed);
  CHECK(all.absorbed == r.report.updates.absorbed);
  // Update and weight give the weight after it, bit for bit.
  const Shape shape{static_cast<std::int64_t>(r.updates.size())};
  std::vector<float> moved = Tensor::from(shape, r.updates, recipe.master).to_floats();
  for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = r.before[i] - moved[i];
  moved = Tensor::from(shape, moved, recipe.master).to_floats();
  std::int64_t differ = 0;
  for (std::size_t i = 0; i < moved.size(); ++i)
    differ += moved[i] != r.after[i] && !(std::isnan(moved[i]) && std::isnan(r.after[i]));
  CHECK(differ == 0);
}

TEST_CASE("a step that was looked at closely: its histograms are those of a count by hand") {
  Recipe narrow = recipes::fp16_weights;
  narrow.state = DType::f16;
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_weights, recipes::fp16_static, narrow}) {
    INFO(describe(recipe));
    check_recorded(record<Sgd>(recipe, {.lr = 0.01f}, 1), recipe);
    check_recorded(record<Sgd>(recipe, {.lr = 0.001f, .momentum = 0.9f, .weight_decay = 0.01f}, 3), recipe);
    check_recorded(record<Adam>(recipe, {.lr = 1e-4f, .epsilon = 1e-3f}, 3), recipe);
    check_recorded(record<AdamW>(recipe, {.lr = 1e-4f, .epsilon = 1e-3f}, 2), recipe);
    check_recorded(record<Adagrad>(recipe, {.lr = 1e-3f, .weight_decay = 0.01f}, 2), recipe);
  }
}

TEST_CASE("exact updates are those of a step: without one, or after zero_grad(), there are none") {
  const Tensor p = Tensor::from({2}, std::vector<float>{1, 2}).set_requires_grad(true);
  Sgd optimizer({p}, {.lr = 0.5f});
  LossScaler scaler(NoScaling{});
  p.set_grad(p.bound_grad());
  p.grad().data<float>()[0] = 4;
  p.grad().data<float>()[1] = -8;
  Gradients gradients = optimizer.gradients();
  const UnscaleResult check = scaler.unscale(gradients);
  const Tensor before = Tensor::from({2}, std::vector<float>{1, 2});
  CHECK_SAYS("no step was taken", optimizer.exact_updates(gradients, before));
  static_cast<void>(optimizer.step(gradients, check));
  CHECK(optimizer.exact_updates(gradients, before) == std::vector<float>{2, -4});
  CHECK_SAYS("(1)", optimizer.exact_updates(gradients, Tensor::from({1}, std::vector<float>{1})));
  optimizer.zero_grad();
  CHECK_SAYS("before zero_grad()", optimizer.exact_updates(gradients, before));
}

TEST_CASE("a skipped step has no exact updates") {
  const Tensor p = Tensor::from({1}, std::vector<float>{1}).set_requires_grad(true);
  Sgd optimizer({p}, {.lr = 0.5f});
  LossScaler scaler(DynamicScaling{.initial = 1});
  p.set_grad(p.bound_grad());
  p.grad().data<float>()[0] = static_cast<float>(infinity);
  Gradients gradients = optimizer.gradients();
  const UnscaleResult check = scaler.unscale(gradients);
  const DeviceValue<kernels::StepOutcome> result = optimizer.step(gradients, check);
  CHECK_FALSE(result.read().taken);
  CHECK_SAYS("skipped", optimizer.exact_updates(gradients, optimizer.state().master));
}

std::vector<std::int64_t> steps_of(const train::Run& run) {
  std::vector<std::int64_t> steps;
  for (const StepSizes& sizes : run.sizes) steps.push_back(sizes.step);
  return steps;
}

TEST_CASE("a run looks closely at the first step and every so many, and is none the different for it") {
  Scratch scratch;
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_weights, recipes::fp16_dynamic}) {
    INFO(describe(recipe));
    train::Plan plan = small_plan(data, recipe, 11);
    std::unique_ptr<nn::Model> plain, watched;
    plan.shadow_every = recipe == recipes::fp32 ? 0 : 4;
    const train::Run without = train::run(plan, scratch.next(), {}, &plain);
    plan.histogram_every = 4;
    const std::string path = scratch.next();
    const train::Run with = train::run(plan, path, {}, &watched);
    CHECK(without.sizes.empty());
    CHECK(steps_of(with) == std::vector<std::int64_t>{1, 4, 8});
    CHECK(values_of(*plain) == values_of(*watched));
    CHECK(train::load_run(path).sizes == with.sizes);
    REQUIRE(with.steps.size() == without.steps.size());
    for (std::size_t i = 0; i < with.steps.size(); ++i) {
      const auto same = [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); };
      CHECK(with.steps[i].loss == without.steps[i].loss);
      CHECK(same(with.steps[i].flushed, without.steps[i].flushed));
    }
    for (const StepSizes& sizes : with.sizes) {
      const train::LogRecord& record = with.steps[static_cast<std::size_t>(sizes.step) - 1];
      CHECK(sizes.scale == record.scale);
      const UpdateSizes updates = *sizes.updates();
      const double whole = static_cast<double>(updates.ratios.values());
      CHECK(static_cast<double>(updates.underflowed) / whole == record.underflowed);
      CHECK(static_cast<double>(updates.absorbed) / whole == record.absorbed);
    }
  }
}

TEST_CASE("an FP32 run needs no shadow: its own gradients are what a shadow would have") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Recipe scaled = recipes::fp32;
  scaled.scaling = StaticScaling{.factor = 1024};
  for (const Recipe& recipe : {recipes::fp32, scaled}) {
    train::Plan plan = small_plan(data, recipe, 3);
    plan.histogram_every = 1;
    const train::Run own = train::run(plan, scratch.next());
    plan.shadow_every = 1;
    const train::Run shadowed = train::run(plan, scratch.next());
    CHECK(own.sizes == shadowed.sizes);
    CHECK(own.sizes[0].scale == (recipe == scaled ? 1024 : 1));
  }
}

TEST_CASE("a skipped step has gradients that overflow, and no updates - looks may lie between logged steps") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p30f};
  train::Plan plan = small_plan(data, recipe, 7);
  plan.log_every = 5;
  plan.histogram_every = 3;
  const train::Run run = train::run(plan, scratch.next());
  CHECK(steps_of(run) == std::vector<std::int64_t>{1, 3, 6});
  for (const StepSizes& sizes : run.sizes) {
    CHECK(sizes.gradients().overflowed > 0);
    CHECK(sizes.scale == std::ldexp(1, 31 - static_cast<int>(sizes.step)));
    CHECK_FALSE(sizes.updates());
  }
  std::vector<std::int64_t> logged;
  for (const train::LogRecord& step : run.steps) {
    logged.push_back(step.step);
    CHECK(std::isnan(step.flushed));  // nobody asked
  }
  CHECK(logged == std::vector<std::int64_t>{1, 3, 5, 6, 7});
  plan.histogram_every = -1;
  CHECK_SAYS("a histogram every -1 steps", train::run(plan, scratch.next()));
}

}  // namespace
}  // namespace tinymp::test
