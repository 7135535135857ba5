#include <lessons/lab/bench/ranks.h>
#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/dist/mpi.h>
#include <tinymp/nn/lenet.h>
#include <tinymp/nn/mlp.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/training.h>
#include <chrono>
#include <memory>
#include <optional>

// One case of ./learn bench ranks, in a process of its own.
namespace tinymp::kernels::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Passes all on, and sums up the time in Exchange::wait() and the bytes.
class Timed final : public dist::Transport {
 public:
  explicit Timed(dist::Transport& inner) : inner_(inner) {}
  int rank() const override { return inner_.rank(); }
  int ranks() const override { return inner_.ranks(); }
  std::unique_ptr<dist::Exchange> begin(const dist::Outgoing& out, const dist::Incoming& in) override {
    for (std::size_t r = 0; r < out.size(); ++r)
      if (static_cast<int>(r) != rank()) bytes += static_cast<double>(out[r].size());
    return std::make_unique<Waited>(inner_.begin(out, in), waited);
  }
  void fail(const std::string& message) override { inner_.fail(message); }

  double waited = 0, bytes = 0;

 private:
  class Waited final : public dist::Exchange {
   public:
    Waited(std::unique_ptr<dist::Exchange> inner, double& sum) : inner_(std::move(inner)), sum_(sum) {}
    void wait() override {
      const Clock::time_point begin = Clock::now();
      inner_->wait();
      sum_ += seconds_since(begin);
    }

   private:
    std::unique_ptr<dist::Exchange> inner_;
    double& sum_;
  };
  dist::Transport& inner_;
};

data::Split made_up() {
  constexpr std::int64_t count = 2048, pixels = 784;
  data::Dataset set{.name = "made up", .count = count, .images = {}, .labels = {}};
  Rng rng(1);
  for (std::int64_t i = 0; i < count; ++i) {
    set.labels.push_back(static_cast<std::uint8_t>(rng.below(10)));
    for (std::int64_t p = 0; p < pixels; ++p) set.images.push_back(static_cast<std::uint8_t>(rng.below(256)));
  }
  return {.train = set, .validation = {}, .test = {}};
}

train::Plan plan_of(const RanksCase& wanted, const data::Split& data) {
  train::Plan plan;
  plan.data = &data;
  plan.model = train::model_of<nn::Mlp>({784, 128, 10});
  if (wanted.model == "lenet")
    plan.model = [](const Recipe& recipe, Rng& rng) { return std::make_unique<nn::LeNet>(recipe, rng); };
  plan.optimizer = train::optimizer_of<Sgd>({.lr = 0.01f, .momentum = 0.9f});
  plan.batch = wanted.batch;
  plan.micro_batches = wanted.ranks;
  plan.wire.format = wanted.wire;
  return plan;
}

}  // namespace

RanksFigures measure_ranks(const RanksCase& wanted) {
  set_threads(wanted.threads);
  std::unique_ptr<dist::Transport> joined;
  std::optional<Timed> ranks;
  if (wanted.ranks > 1) {
    joined = dist::join_mpi();
    expect(joined->ranks() == wanted.ranks, "measure_ranks: ", joined->ranks(), " ranks, not ", wanted.ranks);
    ranks.emplace(*joined);
  }
  const data::Split data = made_up();
  train::Plan plan = plan_of(wanted, data);
  if (ranks) plan.ranks = &*ranks;
  train::TrainedParts parts(plan);
  std::optional<train::RankSum> sum;
  if (ranks) sum.emplace(plan, *parts.model, *parts.optimizer);
  const train::StepRecords records(Device::cpu, StepRecords());
  std::int64_t number = 0;
  const auto step = [&] {
    train::MicroBatches batches = train::next_of(parts.loader, plan);
    if (sum) batches.ranks = &*sum;
    start_step(plan, ++number, *parts.model, *parts.optimizer, parts.scaler, parts.products, {}, batches,
               records);
    parts.loader.skip();
  };
  for (int i = 0; i < 3; ++i) step();
  if (ranks) ranks->waited = ranks->bytes = 0;
  const Clock::time_point begin = Clock::now();
  for (std::int64_t i = 0; i < wanted.steps; ++i) step();
  const double seconds = seconds_since(begin), steps = static_cast<double>(wanted.steps);
  return {ranks ? ranks->rank() : 0, seconds / steps, ranks ? ranks->waited / seconds : 0,
          ranks ? ranks->bytes / steps : 0};
}

std::vector<RanksCase> ranks_cases(bool quick) {
  std::vector<RanksCase> all;
  for (const char* const model : {"mlp", "lenet"}) {
    const std::int64_t steps = quick ? 3 : model == std::string("mlp") ? 300 : 30;
    const auto add = [&](int ranks, int threads, std::int64_t batch, DType wire) {
      all.push_back({model, ranks, threads, batch, wire, steps});
    };
    add(1, 1, 64, DType::f32);
    add(1, 2, 64, DType::f32);
    for (const std::int64_t batch : {32, 64})
      for (const DType wire : {DType::f32, DType::f16}) add(2, 1, batch, wire);
  }
  return all;
}

std::vector<std::string> words_of(const RanksCase& wanted) {
  return {wanted.model,         concat(wanted.ranks), concat(wanted.threads),
          concat(wanted.batch), concat(wanted.wire),  concat(wanted.steps)};
}

RanksCase case_from(const std::vector<std::string>& words) {
  expect(words.size() == 6, "bench ranks: a case has 6 words, not ", words.size());
  return {words[0],
          std::stoi(words[1]),
          std::stoi(words[2]),
          std::stoll(words[3]),
          dtype_from_name(words[4]),
          std::stoll(words[5])};
}

}  // namespace tinymp::kernels::bench
