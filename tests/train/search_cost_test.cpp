#include <tests/train/faults.h>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

/// What a run pays for the search for what broke it: memory, time, and no bit of its numbers.
namespace tinymp::test {
namespace {

TEST_CASE("once the first bad one is found no copy of the run's state is left") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 4);
  plan.optimizer = sgd(1e4f);
  std::map<std::int64_t, std::size_t> in_use;
  const Run run = train::run(plan, scratch.next(), [&](const Plan&, const train::LogRecord& step) {
    in_use[step.step] = pool_statistics().bytes_in_use;
  });
  REQUIRE(run.findings.size() == 1);
  CHECK(run.findings[0].step == 2);
  constexpr std::size_t state = (2 + 4) * (784 * 12 + 12 + 12 * 10 + 10);  // weights and masters
  CHECK(in_use[1] >= in_use[3] + state);
}

TEST_CASE("the time of a run is that of its training, without the search for what broke it") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.optimizer = sgd(1e4f);
  int models = 0;
  plan.model = [&](const Recipe& recipe, Rng& rng) {
    constexpr auto long_time = std::chrono::seconds(2);
    if (++models == 2) std::this_thread::sleep_for(long_time);  // the twin
    return std::make_unique<nn::Mlp>(std::vector<std::int64_t>{784, 12, 10}, recipe, rng);
  };
  const Run run = train::run(plan, scratch.next());
  CHECK(models == 2);
  CHECK(run.result->seconds > 0);
  CHECK(run.result->seconds < 1.5);
}

TEST_CASE("to look changes nothing in the run") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 3);
  plan.optimizer = sgd(1e4f);
  std::unique_ptr<nn::Model> model;
  const Run run = train::run(plan, scratch.next(), {}, &model);
  CHECK(run.findings.size() == 1);

  Rng rng = Rng(plan.seed).split(0);
  const nn::Mlp by_hand({784, 12, 10}, plan.recipe, rng);
  Sgd optimizer(tensors(by_hand.parameters()), {.lr = 1e4f}, plan.recipe);
  LossScaler scaler(plan.recipe.scaling);
  data::Loader loader(data.train, plan.batch, Rng(plan.seed).split(1).seed());
  for (const train::LogRecord& step : run.steps) {
    Tape tape;
    const data::Batch batch = loader.next();
    const Tensor loss = train::loss_of(plan.task, by_hand, batch);
    tape.backward(scaler.scale(loss));
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
    CHECK((loss.item() == step.loss || (std::isnan(loss.item()) && std::isnan(step.loss))));
  }
}

}  // namespace
}  // namespace tinymp::test
