#include <kernels/kernels.h>
#include <tests/base/says.h>
#include <tests/dist/training.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/training.h>
#include <cmath>
#include <limits>
#include <map>

/// Sums of gradients in 16 bits, against additions in float64 that are rounded by arithmetic alone.
namespace tinymp::test {
namespace {

using dist::Divide;
using dist::Wire;
using train::WireSum;

constexpr Divide divisions[] = {Divide::after, Divide::first, Divide::split};
constexpr double infinity = std::numeric_limits<double>::infinity();

/// x in a format with so many bits of precision, whose smallest number is 2^least.
double rounded(double x, DType format) {
  const int bits = format == DType::f16 ? 11 : 8, least = format == DType::f16 ? -24 : -133;
  const double largest = format == DType::f16 ? 65504 : std::ldexp(255, 120);
  if (x == 0 || !std::isfinite(x)) return x;
  const double unit = std::ldexp(1, std::max(std::ilogb(x) - (bits - 1), least));
  const double y = std::nearbyint(x / unit) * unit;
  return std::abs(y) > largest ? std::copysign(infinity, x) : y;
}

/// What PyTorch and FSDP document: 1, N, and FSDP's factor, written out.
double divisor(Divide divide, int ranks) {
  const std::map<int, double> split{{1, 1}, {2, 2}, {3, 2}, {4, 2}, {5, 2}, {6, 4}, {8, 4}, {16, 4}, {64, 8}};
  return divide == Divide::after ? 1 : divide == Divide::first ? ranks : split.at(ranks);
}

/// The sum of one element over the ranks, as it comes from the wire.
double expected_sum(const std::vector<float>& gradients, const Wire& wire) {
  const auto factor = static_cast<float>(1 / divisor(wire.divide, static_cast<int>(gradients.size())));
  double sum = 0;
  for (std::size_t r = 0; r < gradients.size(); ++r) {
    const double here = rounded(static_cast<double>(gradients[r] * factor), wire.format);
    sum = r == 0 ? here : rounded(sum + here, wire.format);
  }
  return sum;
}

/// The gradients that a rank has of two parameters, of 40 and 24 elements, and an optimizer that they lie in.
struct Rank {
  Tensor a = Tensor({40}), b = Tensor({24});
  std::unique_ptr<Sgd> optimizer{};

  explicit Rank(const std::vector<float>& gradients) {
    for (const Tensor& p : {a, b}) {
      kernels::fill(p.view(), 0);
      p.set_requires_grad(true);
    }
    optimizer = std::make_unique<Sgd>(std::vector<Tensor>{a, b}, Sgd::Options{.lr = 1}, recipes::fp32);
    set(a, std::span(gradients).first(40));
    set(b, std::span(gradients).last(24));
  }
  static void set(const Tensor& p, std::span<const float> gradients) {
    kernels::cast(Tensor::from(p.shape(), gradients).view(), p.bound_grad().view());
    p.set_grad(p.bound_grad());
  }
};

/// Of sizes from 2^-30 to 2^17: some are flushed, some overflow.
std::vector<float> made_up_gradients(std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> values;
  for (int i = 0; i < 64; ++i) {
    const float sign = rng.below(2) == 0 ? 1.0f : -1.0f;
    const float size = 1.0f + static_cast<float>(rng.below(1 << 20)) / (1 << 20);
    values.push_back(sign *
                     std::ldexp(size, static_cast<int>(rng.below(44)) - 30 + (i % 3 == 0 ? 0 : i % 5)));
  }
  return values;
}

bool alike(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// What all ranks have in the place of their gradients after the sum; on all ranks the same.
std::vector<double> summed(const std::vector<std::vector<float>>& gradients, const Wire& wire) {
  const int count = static_cast<int>(gradients.size());
  std::vector<std::vector<double>> found(gradients.size());
  on_ranks(count, [&](dist::Transport& ranks) {
    const auto r = static_cast<std::size_t>(ranks.rank());
    const Rank here(gradients[r]);
    const WireSum sum(wire, count, {here.a, here.b});
    const std::vector<dist::Part> parts = sum.own();
    const Tensor total = sum.empty_sum();
    dist::sum_in_rank_order(ranks, parts, total.view());
    sum.put_back(parts, total);
    for (const Tensor& p : {here.a, here.b})
      for (const double value : p.grad().to_doubles()) found[r].push_back(value);
  });
  for (const std::vector<double>& of_rank : found) CHECK(std::ranges::equal(of_rank, found[0], alike));
  return found[0];
}

TEST_CASE("wire: sums in rank order, with one rounding for each rank, against float64") {
  for (const int count : {1, 2, 3, 4, 5, 8})
    for (const DType format : {DType::f16, DType::bf16})
      for (const Divide divide : divisions) {
        std::vector<std::vector<float>> gradients;
        for (int r = 0; r < count; ++r)
          gradients.push_back(made_up_gradients(static_cast<std::uint64_t>(100 * count + r)));
        const Wire wire{format, divide};
        const std::vector<double> found = summed(gradients, wire);
        INFO(dist::describe(wire) << ", " << count << " ranks");
        bool same = true;
        for (std::size_t i = 0; i < found.size(); ++i) {
          std::vector<float> of_element;
          for (const std::vector<float>& all : gradients) of_element.push_back(all[i]);
          same = same && alike(found[i], expected_sum(of_element, wire));
        }
        CHECK(same);
      }
}

TEST_CASE("wire: the predivide factor is 1, N, or that of FSDP") {
  for (const int count : {1, 2, 3, 4, 5, 6, 8, 16, 64})
    for (const Divide divide : divisions)
      CHECK(dist::predivide_factor(divide, count) == divisor(divide, count));
  CHECK(dist::divide_from_name("split") == Divide::split);
  CHECK_SAYS("no division 'never'; there are after, first and split", dist::divide_from_name("never"));
}

/// The mean of one gradient over N ranks that all have it.
double mean_of(float gradient, int count, const Wire& wire) {
  const std::vector<float> all(64, gradient);
  const double sum = summed(std::vector<std::vector<float>>(static_cast<std::size_t>(count), all), wire)[7];
  const WireSum there(wire, count, {});
  // As unscale() does it, of one micro-batch a rank.
  return sum / there.mean_of({Tensor(), static_cast<double>(count)}).micro_batches;
}

TEST_CASE("wire: FP16 overflows when it is divided after, and underflows when it is divided first") {
  constexpr DType f16 = DType::f16, bf16 = DType::bf16;
  for (const int count : {2, 4, 8}) {
    INFO(count << " ranks");
    for (const Divide divide : divisions)
      for (const DType format : {f16, bf16}) CHECK(mean_of(0.5f, count, {format, divide}) == 0.5);
    // The sum of N values of 40000 is above 65504.
    CHECK(mean_of(40960, count, {f16, Divide::after}) == infinity);
    CHECK(mean_of(40960, count, {f16, Divide::first}) == 40960);
    for (const Divide divide : divisions) CHECK(mean_of(40960, count, {bf16, divide}) == 40960);
    // 2^-24 is FP16's smallest number.
    CHECK(mean_of(0x1p-24f, count, {f16, Divide::after}) == 0x1p-24);
    CHECK(mean_of(0x1p-24f, count, {f16, Divide::first}) == 0);
    for (const Divide divide : divisions) CHECK(mean_of(0x1p-24f, count, {bf16, divide}) == 0x1p-24);
  }
  // Split: one of two powers of two at each end for 4 ranks, two of three at the lower end for 8.
  CHECK(mean_of(0x1p15f * 0.9f, 4, {f16, Divide::split}) == mean_of(0x1p15f * 0.9f, 4, {f16, Divide::first}));
  CHECK(mean_of(40960, 4, {f16, Divide::split}) == infinity);
  CHECK(mean_of(0x1p-24f, 4, {f16, Divide::split}) == 0);
  CHECK(mean_of(0x1p-23f, 4, {f16, Divide::split}) == 0x1p-23);
  CHECK(mean_of(0x1p-23f, 4, {f16, Divide::first}) == 0);
  CHECK(mean_of(0x1p14f * 1.9f, 8, {f16, Divide::split}) == mean_of(0x1p14f * 1.9f, 8, {f16, Divide::first}));
  CHECK(mean_of(0x1p14f * 1.9f, 8, {f16, Divide::after}) == infinity);
}

TEST_CASE("wire: BF16 has no room for small addends") {
  // 256 + 1 is 256 in BF16, whatever divides first; FP16 has it exactly.
  std::vector<std::vector<float>> gradients(4, std::vector<float>(64, 1));
  gradients[0].assign(64, 256);
  CHECK(summed(gradients, {DType::bf16, Divide::after})[0] == 256);
  CHECK(summed(gradients, {DType::f16, Divide::after})[0] == 259);
}

/// FP32 weights and gradients, and S from so high that the first steps overflow: in backward, or on the wire.
Recipe overflowing() {
  Recipe recipe = recipes::o1;
  recipe.scaling = DynamicScaling{.initial = 0x1p24f, .growth_interval = 5};
  return recipe;
}

Plan wire_plan(const data::Split& data, const Wire& wire, const Recipe& recipe) {
  Plan plan = saving_plan(data, recipe);
  plan.model = train::model_of<nn::BatchNormMlp>({784, 6, 10});
  plan.batch = 3;
  plan.steps = 24;
  plan.micro_batches = 8;
  plan.wire = wire;
  return plan;
}

TEST_CASE("wire: ranks keep equal weights, skip alike, and train as without rounding") {
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {overflowing(), recipes::fp16_dynamic, recipes::bf16})
    for (const int count : {2, 4, 8}) {
      Plan plan = wire_plan(data, {}, recipe);
      const OwnRun exact;
      finish_on_ranks(plan, count, exact);
      const double loss = train::load_run(exact.log()).steps.back().loss;
      for (const Divide divide : divisions)
        for (const DType format : {DType::f16, DType::bf16}) {
          plan.wire = {format, divide};
          INFO(describe(recipe) << ", " << dist::describe(plan.wire) << ", " << count << " ranks");
          const OwnRun own;
          finish_on_ranks(plan, count, own);  // it compares the weights of all
          const Run run = train::load_run(own.log());
          CHECK(run.header.wire == dist::describe(plan.wire));
          CHECK(run.header.ranks == count);
          CHECK(std::abs(run.steps.back().loss - loss) < 0.05 * loss);
          if (recipe == overflowing()) CHECK(run.result->skipped > 2);
        }
    }
}

TEST_CASE("wire: one process that takes a step again has the bits of the ranks") {
  const data::Split data = made_up_split();
  for (const Divide divide : divisions) {
    const Plan plan = wire_plan(data, {DType::f16, divide}, overflowing());
    const OwnRun own;
    const Outcome expected = finish_on_ranks(plan, 4, own);
    const dist::ThreadRanks counted(4);
    Plan alone = plan;
    alone.ranks = &counted.at(0);
    train::TrainedParts parts(alone);
    const train::StepRecords records(Device::cpu, kernels::StepRecords());
    for (std::int64_t t = 1; t <= alone.steps; ++t) {
      start_step(alone, t, *parts.model, *parts.optimizer, parts.scaler, parts.products, {},
                 train::next_of(parts.loader, alone), records);
      parts.loader.skip();
    }
    CHECK(bits_of(*parts.model) == expected.weights);
  }
}

TEST_CASE("wire: a run in 16 bits goes on with as many ranks alone, and in its own format") {
  const data::Split data = made_up_split();
  Plan plan = wire_plan(data, {DType::f16, Divide::split}, overflowing());
  const OwnRun whole;
  const Outcome expected = finish_on_ranks(plan, 4, whole);
  const OwnRun run;
  on_ranks(4, [&](dist::Transport& ranks) {
    Plan stopped = plan;
    stopped.ranks = &ranks;
    stopped.stop = [now = 0]() mutable { return ++now == 5; };
    train::run(stopped, run.log());
  });
  plan.resume = run.folder.path.string();
  const auto refusal = [&](int count, const Plan& as) {
    const dist::ThreadRanks threads(count);
    return messages_on_ranks(threads, count, [&](dist::Transport& ranks) {
      Plan resumed = as;
      resumed.ranks = &ranks;
      train::run(resumed, run.log());
    })[0];
  };
  CHECK(refusal(2, plan).find("its \"wire.ranks\" is 4, and here it is 2") != std::string::npos);
  Plan other = plan;
  other.wire.divide = Divide::first;
  CHECK(refusal(4, other).find("its \"wire\" is \"f16, divided split\"") != std::string::npos);
  CHECK_SAYS("this process trains alone", train::run(plan, run.log()));
  check_same(expected, finish_on_ranks(plan, 4, run));
}

}  // namespace
}  // namespace tinymp::test
