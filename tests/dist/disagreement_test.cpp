#include <tests/dist/training.h>

/// Ranks that would not train one model are told so, and which of them differs.
namespace tinymp::test {
namespace {

Plan shared_plan(const data::Split& data, dist::Transport& ranks) {
  Plan plan = saving_plan(data, recipes::fp32);
  plan.batch = 6;
  plan.micro_batches = 6;
  plan.ranks = &ranks;
  return plan;
}

/// All ranks throw the same.
void check_all_say(const std::string& words, int count, const std::function<void(Plan&)>& change,
                   const data::Split* of_rank_2 = nullptr) {
  const data::Split data = made_up_split();
  const OwnRun run;
  const dist::ThreadRanks threads(count);
  for (const std::string& message : messages_on_ranks(threads, count, [&](dist::Transport& ranks) {
         Plan plan = shared_plan(ranks.rank() == 2 && of_rank_2 != nullptr ? *of_rank_2 : data, ranks);
         if (ranks.rank() == 2) change(plan);
         train::run(plan, run.log());
       })) {
    INFO(message);
    CHECK(message.find(words) != std::string::npos);
  }
}

TEST_CASE("ranks: one with another plan, other data or other first weights is named") {
  check_all_say("rank 2 trains by another plan than rank 0", 3, [](Plan& plan) { plan.seed = 1; });
  check_all_say("rank 2 trains by another plan than rank 0", 3, [](Plan& plan) { plan.clip = 1; });
  data::Split other = made_up_split();
  other.train.images[1234] ^= 1;
  check_all_say(
      "rank 2 reads other data than rank 0", 3, [](Plan&) {}, &other);
  other = made_up_split();
  other.train.labels[95] ^= 1;
  check_all_say(
      "rank 2 reads other data than rank 0", 3, [](Plan&) {}, &other);
  check_all_say("rank 2 begins with other weights than rank 0", 3, [](Plan& plan) {
    plan.model = [](const Recipe& r, Rng& rng) {
      rng.next_u64();
      return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 12, 10}, r, rng);
    };
  });
}

TEST_CASE("ranks: one whose weights drift is found when they are compared, and named") {
  const data::Split data = made_up_split();
  const OwnRun run;
  const dist::ThreadRanks threads(3);
  const std::vector<std::string> messages = messages_on_ranks(threads, 3, [&](dist::Transport& ranks) {
    Plan plan = shared_plan(data, ranks);
    plan.steps = 3 * plan.compare_every;
    const train::ModelMaker make = plan.model;
    std::vector<Tensor> weights;
    plan.model = [&](const Recipe& r, Rng& rng) {
      auto model = make(r, rng);
      weights = tensors(model->parameters());
      return model;
    };
    if (ranks.rank() == 1)  // a bit turns over after step 60
      plan.stop = [&, now = 0]() mutable {
        if (++now == 60) weights[0].data<float>()[7] += 1;
        return false;
      };
    train::run(plan, run.log());
  });
  for (const std::string& message : messages)
    CHECK(message.find("rank 1 has other weights than the others before step 100") != std::string::npos);
}

/// The loss of rank 1 overflows FP16 in step 7, by its labels alone no other rank's does.
train::Loss overflow_of(const dist::Transport& ranks, int odd) {
  return [&ranks, odd, now = 0](const Tensor& y, std::span<const std::int32_t> labels) mutable {
    const bool overflows = ranks.rank() == odd && ++now == 7;
    return overflows ? scale(cross_entropy(y, labels), 1e30f) : cross_entropy(y, labels);
  };
}

/// What each rank throws when one of four has an overflow in a step.
std::vector<std::string> with_overflow(train::FoundInf decision, int odd, const OwnRun& run) {
  const data::Split data = made_up_split();
  const dist::ThreadRanks threads(4);
  return messages_on_ranks(threads, 4, [&](dist::Transport& ranks) {
    Recipe recipe = recipes::fp16_dynamic;
    recipe.scaling = DynamicScaling{.initial = 1024};
    Plan plan = saving_plan(data, recipe, 20);
    plan.batch = 6;
    plan.micro_batches = 4;
    plan.ranks = &ranks;
    plan.loss = overflow_of(ranks, odd);
    plan.found_inf = decision;
    plan.compare_every = 10;
    train::run(plan, run.log());
  });
}

TEST_CASE(
    "ranks: where each decides alone, an overflow of one drives them apart, and agreed by maximum it does "
    "not") {
  for (const int odd : {0, 2}) {
    INFO("rank " << odd);
    const OwnRun apart, agreed, usual;
    const std::string words = concat(
        "rank ", odd, " has other weights than the others before step 10: the ranks have drifted apart");
    for (const std::string& message : with_overflow(train::FoundInf::own, odd, apart)) {
      INFO(message);
      CHECK(message.find(words) != std::string::npos);
    }
    CHECK(with_overflow(train::FoundInf::largest, odd, agreed) == std::vector<std::string>(4));
    CHECK(with_overflow(train::FoundInf::of_sum, odd, usual) == std::vector<std::string>(4));
    const Run run = train::load_run(agreed.log());
    CHECK(run.result->skipped == train::load_run(usual.log()).result->skipped);
    CHECK(run.result->skipped == 1);
    CHECK(run.result->weights == train::load_run(usual.log()).result->weights);
    CHECK(run.steps.back().scale == 512);
  }
}

TEST_CASE("ranks: plans that cannot be shared are refused") {
  const data::Split data = made_up_split();
  const dist::ThreadRanks threads(4);
  const OwnRun run;
  Plan plan = shared_plan(data, threads.at(0));
  CHECK_SAYS("a step has 6 micro-batches, which they cannot share equally", train::run(plan, run.log()));
  plan.device = Device::cuda;
  plan.micro_batches = 4;
  CHECK_SAYS("it trains on cuda", train::run(plan, run.log()));
}

TEST_CASE("ranks: what ends one rank is told by all") {
  const data::Split data = made_up_split();
  const OwnRun run;
  const dist::ThreadRanks threads(3);
  const std::vector<std::string> messages = messages_on_ranks(threads, 3, [&](dist::Transport& ranks) {
    Plan plan = shared_plan(data, ranks);
    if (ranks.rank() == 1)
      plan.stop = [now = 0]() mutable -> bool {
        if (++now == 4) throw Error("out of luck");
        return false;
      };
    train::run(plan, run.log());
  });
  CHECK(messages == std::vector<std::string>{"rank 1: out of luck", "out of luck", "rank 1: out of luck"});
  CHECK(train::step_of_checkpoint(run.newest()) == 2);  // the last is whole
  check_readable(run.folder.path);
}

}  // namespace
}  // namespace tinymp::test
