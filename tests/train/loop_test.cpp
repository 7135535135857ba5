#include <tests/base/says.h>
#include <tests/catch.h>
#include <tests/train/rig.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/base/parallel_for.h>
#include <tinymp/train/loop.h>
#include <cmath>

namespace tinymp::test {
namespace {

using train::Plan;
using train::Run;

std::vector<double> losses(const Run& run) {
  std::vector<double> values;
  for (const train::LogRecord& step : run.steps) values.push_back(step.loss);
  return values;
}

TEST_CASE("run trains: the loss falls, and the test set is measured") {
  Scratch scratch;
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic}) {
    Plan plan = small_plan(data, recipe, 40);
    plan.optimizer = sgd(0.1f, 0.9f);
    const Run run = train::run(plan, scratch.next());
    INFO(describe(recipe));
    CHECK(run.steps.front().loss > 1.5);
    CHECK(run.steps.back().loss < run.steps.front().loss / 2);
    REQUIRE(run.result.has_value());
    CHECK(run.result->value > 50);  // made-up images are easy; guessing gives 10
    CHECK(run.result->first_nonfinite_step == 0);
    CHECK(run.result->seconds >= 0);
  }
}

TEST_CASE("the same seed gives the same bits, for 1, 2, 3 and 7 threads - another seed does not") {
  Scratch scratch;
  const data::Split data = made_up_split();
  const int usual = threads();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic}) {
    Plan plan = small_plan(data, recipe, 5);
    plan.seed = 3;
    std::unique_ptr<nn::Model> model, again;
    set_threads(1);
    const Run run = train::run(plan, scratch.next(), {}, &model);
    for (const int count : {1, 2, 3, 7}) {
      set_threads(count);
      const Run other = train::run(plan, scratch.next(), {}, &again);
      INFO(describe(recipe) << ", " << count << " threads");
      CHECK(losses(other) == losses(run));
      CHECK(values_of(*again) == values_of(*model));
      CHECK(other.result->value == run.result->value);
    }
    set_threads(usual);
    plan.seed = 4;
    CHECK(losses(train::run(plan, scratch.next())) != losses(run));
  }
  set_threads(usual);
}

TEST_CASE("two recipes of one seed train the same model on the same batches") {
  Scratch scratch;
  const data::Split data = made_up_split();
  const Run wide = train::run(small_plan(data, recipes::fp32, 3), scratch.next());
  const Run narrow = train::run(small_plan(data, recipes::fp16_master, 3), scratch.next());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(wide.steps[i].loss != narrow.steps[i].loss);
    CHECK(wide.steps[i].loss == Approx(narrow.steps[i].loss).epsilon(0.01));
  }
}

TEST_CASE("steps whose gradients overflow are skipped, counted, and leave the weights alone") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Recipe recipe = recipes::fp16_dynamic;
  recipe.scaling = DynamicScaling{.initial = 0x1p40f};
  std::unique_ptr<nn::Model> model;
  const Run run = train::run(small_plan(data, recipe, 4), scratch.next(), {}, &model);
  CHECK(run.result->skipped == 4);
  CHECK(run.result->taken == 0);
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(run.steps[i].skipped);
    CHECK(run.steps[i].skips == static_cast<std::int64_t>(i) + 1);
    CHECK(run.steps[i].scale == std::ldexp(1, 40 - static_cast<int>(i)));  // S in force during the step
    CHECK(std::isfinite(run.steps[i].loss));
    CHECK(std::isnan(run.steps[i].underflowed));  // no update, nothing to count
  }
  Rng rng = Rng(0).split(0);
  const nn::Mlp untouched({784, 12, 10}, recipe, rng);
  CHECK(values_of(*model) == values_of(untouched));

  // From 2^20 on it comes down to where it trains.
  recipe.scaling = DynamicScaling{.initial = 0x1p24f};
  const Run later = train::run(small_plan(data, recipe, 20), scratch.next());
  CHECK(later.result->skipped >= 1);
  CHECK(later.result->taken >= 1);
  CHECK(later.result->skipped + later.result->taken == 20);
  CHECK(later.steps.back().skips == later.result->skipped);
  CHECK_FALSE(later.steps.back().skipped);
}

TEST_CASE("the learning rate follows its schedule, step by step, and the log tells it") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_dynamic, 8);
  plan.schedule = ScheduleKind::cosine;
  plan.warmup = 2;
  const Run run = train::run(plan, scratch.next());

  Rng rng = Rng(plan.seed).split(0);
  const nn::Mlp by_hand({784, 12, 10}, plan.recipe, rng);
  Sgd optimizer(tensors(by_hand.parameters()), {}, plan.recipe);
  LossScaler scaler(plan.recipe.scaling);
  data::Loader loader(data.train, plan.batch, Rng(plan.seed).split(1).seed());
  REQUIRE(run.steps.size() == 8);
  for (const train::LogRecord& step : run.steps) {
    const auto t = static_cast<double>(step.step);
    const double expected = t <= 2 ? t / 3 : 0.5 + 0.5 * std::cos(std::acos(-1.0) * (t - 3) / 6);
    CHECK(step.lr == Approx(0.05 * expected).epsilon(1e-6));
    optimizer.set_learning_rate(static_cast<float>(step.lr));
    Tape tape;
    const Tensor loss = train::loss_of(plan.task, by_hand, loader.next());
    CHECK(loss.item() == step.loss);
    tape.backward(scaler.scale(loss));
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  const Run constant = train::run(small_plan(data), scratch.next());
  for (const train::LogRecord& step : constant.steps) CHECK(step.lr == static_cast<double>(0.05f));
  plan.warmup = -1;
  CHECK_SAYS("a warm-up of -1 steps makes no run", train::run(plan, scratch.next()));
}

TEST_CASE("where the first NaN came from is looked for at the rates of the schedule") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan constant = small_plan(data, recipes::fp32, 4), climbing = constant;
  constant.optimizer = sgd(0x1p98f);
  climbing.optimizer = sgd(0x1p100f);
  climbing.warmup = 3;  // a quarter in step 1, after which nothing is finite
  const Run expected = train::run(constant, scratch.next()), found = train::run(climbing, scratch.next());
  REQUIRE(expected.findings.size() == 1);
  REQUIRE(found.findings.size() == 1);
  CHECK(found.findings[0].step == 2);
  CHECK(found.findings[0].sentence == expected.findings[0].sentence);
}

TEST_CASE("a run that produces NaN goes on to its end, and says where it began") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 6);
  plan.optimizer = sgd(1e38f);
  const Run run = train::run(plan, scratch.next());
  CHECK(std::isfinite(run.steps[0].loss));
  std::int64_t first = 0;
  for (const train::LogRecord& step : run.steps) {
    if (first == 0 && !std::isfinite(step.loss)) first = step.step;
  }
  CHECK(first == 2);
  CHECK(run.result->first_nonfinite_step == first);
  CHECK(run.result->taken == 6);
  CHECK(run.steps.size() == 6);
  CHECK(std::isnan(run.result->value));
}

TEST_CASE("fine-tuning begins with the weights of another model, rounded") {
  Scratch scratch;
  const data::Split data = made_up_split();
  std::unique_ptr<nn::Model> trained, tuned;
  static_cast<void>(train::run(small_plan(data, recipes::fp32, 10), scratch.next(), {}, &trained));
  const std::vector<double> before = values_of(*trained);

  Plan plan = small_plan(data, recipes::fp16_weights, 3);
  plan.seed = 9;  // its own first weights would be others
  plan.start = trained.get();
  plan.optimizer = sgd(0);
  const Run run = train::run(plan, scratch.next(), {}, &tuned);
  Rng rng(1);
  const nn::Mlp rounded({784, 12, 10}, recipes::fp16_weights, rng);
  nn::copy_parameters(*trained, rounded);
  CHECK(values_of(*tuned) == values_of(rounded));
  CHECK(values_of(*trained) == before);  // the model to start from is not trained on

  plan.optimizer = sgd(0.1f);
  static_cast<void>(train::run(plan, scratch.next(), {}, &tuned));
  CHECK(values_of(*tuned) != values_of(rounded));
  CHECK(values_of(*trained) == before);
}

TEST_CASE("fine-tuning with a master copy starts from the rounded weights and keeps what they lose") {
  Scratch scratch;
  const data::Split data = made_up_split();
  std::unique_ptr<nn::Model> trained, lost, kept;
  static_cast<void>(train::run(small_plan(data, recipes::fp32, 10), scratch.next(), {}, &trained));
  // Updates so small that FP16 rounds them away: at 0.03 neighbours lie 2^-15 apart.
  const auto moved = [&](const Recipe& recipe, std::unique_ptr<nn::Model>& model) {
    Plan plan = small_plan(data, recipe, 30);
    plan.start = trained.get();
    plan.optimizer = sgd(2e-5f);
    const Run run = train::run(plan, scratch.next(), {}, &model);
    Rng rng(1);
    const nn::Mlp before({784, 12, 10}, recipe, rng);
    nn::copy_parameters(*trained, before);
    const std::vector<double> a = values_of(before), b = values_of(*model);
    std::int64_t changed = 0;
    for (std::size_t i = 0; i < a.size(); ++i) changed += a[i] != b[i];
    double absorbed = 0;
    for (const train::LogRecord& step : run.steps) absorbed += step.absorbed + step.underflowed;
    return std::pair(changed, absorbed / 30);
  };
  const auto [weights_changed, weights_absorbed] = moved(recipes::fp16_weights, lost);
  const auto [master_changed, master_absorbed] = moved(recipes::fp16_master, kept);
  CHECK(weights_absorbed > 0.3);
  CHECK(master_absorbed < 0.05);
  CHECK(master_changed > 2 * weights_changed);
}

TEST_CASE("the log holds the first step, the last, every log_every-th and every look of the shadow") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_master, 23);
  plan.log_every = 5;
  plan.shadow_every = 8;
  int watched = 0;
  const std::string path = scratch.next();
  const Run run = train::run(plan, path, [&](const Plan& of, const train::LogRecord& step) {
    CHECK(of.name == plan.name);
    CHECK(step.step == ++watched);
  });
  CHECK(watched == 23);
  std::vector<std::int64_t> logged, looked;
  for (const train::LogRecord& step : run.steps) {
    logged.push_back(step.step);
    if (!std::isnan(step.flushed)) looked.push_back(step.step);
  }
  CHECK(logged == std::vector<std::int64_t>{1, 5, 8, 10, 15, 16, 20, 23});
  CHECK(looked == std::vector<std::int64_t>{1, 8, 16});
  CHECK(run.path == path);

  const Run read = train::load_run(path);
  CHECK(losses(read) == losses(run));
  CHECK(read.header.name == plan.name);
  CHECK(read.header.recipe == plan.recipe);
  CHECK(read.header.model == "mlp 784-12-10");
  CHECK(read.header.data == data::describe(data));
  CHECK(read.header.optimizer == "sgd lr=0.05");
  CHECK(read.header.steps == 23);
  CHECK(read.header.batch == 16);
  CHECK(read.header.metric == "test accuracy (%)");
  CHECK(read.header.higher_is_better);
  CHECK(read.result->value == run.result->value);
  CHECK(read.result->taken == 23);
}

TEST_CASE("a look of the shadow changes nothing in the run") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp16_dynamic, 6);
  std::unique_ptr<nn::Model> plain, shadowed;
  const Run without = train::run(plan, scratch.next(), {}, &plain);
  plan.shadow_every = 2;
  const Run with = train::run(plan, scratch.next(), {}, &shadowed);
  CHECK(losses(with) == losses(without));
  CHECK(values_of(*plain) == values_of(*shadowed));
  // The black frame gives zeros in both formats: they are zeros, and not flushed.
  CHECK(with.steps[0].zero > 0.2);
  CHECK(with.steps[0].flushed < with.steps[0].zero - 0.2);
}

TEST_CASE("gradients are clipped after they are unscaled") {
  Scratch scratch;
  const data::Split data = made_up_split();
  const auto distance = [&](float clip, const Recipe& recipe) {
    Plan plan = small_plan(data, recipe, 1);
    plan.clip = clip;
    plan.optimizer = sgd(1);
    std::unique_ptr<nn::Model> model;
    static_cast<void>(train::run(plan, scratch.next(), {}, &model));
    Rng rng = Rng(0).split(0);
    const nn::Mlp before({784, 12, 10}, recipe, rng);
    const std::vector<double> a = values_of(before), b = values_of(*model);
    double squares = 0;
    for (std::size_t i = 0; i < a.size(); ++i) squares += (a[i] - b[i]) * (a[i] - b[i]);
    return std::sqrt(squares);
  };
  CHECK(distance(0.25f, recipes::fp32) == Approx(0.25).epsilon(1e-3));
  Recipe scaled = recipes::fp32;
  scaled.scaling = StaticScaling{.factor = 4096};
  CHECK(distance(0.25f, scaled) == Approx(0.25).epsilon(1e-3));
  CHECK(distance(0, recipes::fp32) > 0.5);
  CHECK(distance(100, recipes::fp32) == Approx(distance(0, recipes::fp32)));
}

TEST_CASE("reconstruction trains towards the images") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 15);
  plan.task = train::Task::reconstruct;
  plan.model = [](const Recipe& r, Rng& rng) {
    return std::make_unique<nn::Autoencoder>(std::vector<std::int64_t>{784, 6, 784}, r, rng);
  };
  plan.optimizer = sgd(20, 0.9f);
  const Run run = train::run(plan, scratch.next());
  CHECK(run.steps.back().loss < 0.8 * run.steps.front().loss);
  CHECK(run.header.metric == "test MSE");
  CHECK_FALSE(run.header.higher_is_better);
  CHECK(run.result->value == Approx(run.steps.back().loss).epsilon(0.2));
}

TEST_CASE("a plan may bring a loss of its own: twice the loss at half the learning rate is the same run") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 5);
  plan.optimizer = sgd(0.25f);
  std::unique_ptr<nn::Model> model, again;
  const Run run = train::run(plan, scratch.next(), {}, &model);
  plan.loss = [](const Tensor& y, std::span<const std::int32_t> labels) {
    return scale(cross_entropy(y, labels), 2);
  };
  plan.optimizer = sgd(0.125f);
  const Run twice = train::run(plan, scratch.next(), {}, &again);
  CHECK(values_of(*again) == values_of(*model));  // a power of two rounds nothing
  for (std::size_t i = 0; i < run.steps.size(); ++i) CHECK(twice.steps[i].loss == 2 * run.steps[i].loss);
}

TEST_CASE("a plan that makes no run is refused before anything is written") {
  Scratch scratch;
  const data::Split data = made_up_split();
  const std::string path = scratch.next();
  const auto refused = [&](auto change) {
    Plan plan = small_plan(data);
    change(plan);
    return message_of([&] { static_cast<void>(train::run(plan, path)); });
  };
  CHECK(refused([](Plan& p) { p.data = nullptr; }).find("lacks its data, model or optimizer") !=
        std::string::npos);
  CHECK(refused([](Plan& p) { p.model = {}; }).find("lacks its data, model or optimizer") !=
        std::string::npos);
  CHECK(refused([](Plan& p) { p.optimizer = {}; }).find("lacks its data, model or optimizer") !=
        std::string::npos);
  CHECK(refused([](Plan& p) { p.steps = 0; }).find("train::run: 0 steps") != std::string::npos);
  CHECK(refused([](Plan& p) { p.log_every = 0; }).find("logged every 0") != std::string::npos);
  CHECK(refused([](Plan& p) { p.shadow_every = -1; }).find("shadowed every -1") != std::string::npos);
  const auto own_loss = [](Plan& p) {
    p.loss = [](const Tensor& y, std::span<const std::int32_t> labels) { return cross_entropy(y, labels); };
  };
  CHECK(refused([&](Plan& p) {
          own_loss(p);
          p.shadow_every = 1;
        }).find("a loss of its own") != std::string::npos);
  const auto on_cuda = [](Plan& p) { p.device = Device::cuda; };
  for (const Recipe& recipe : {recipes::bf16, Recipe{.autocast = DType::bf16}})
    CHECK(refused([&](Plan& p) {
            on_cuda(p);
            p.recipe = recipe;
            p.recipe.accumulate = DType::f16;
          }).find("multiplies BF16 and keeps the sums in f16") != std::string::npos);
  CHECK(refused([&](Plan& p) {
          on_cuda(p);
          p.graph = true;
          p.micro_batches = 1025;
        }).find("the kernels of all its 1025 micro-batches; take at most 1024") != std::string::npos);
  CHECK(refused([](Plan& p) { p.batch = 97; }).find("a batch of 97 images") != std::string::npos);
  CHECK(refused([](Plan& p) { p.optimizer = sgd(std::nanf("")); }).find("learning rate") !=
        std::string::npos);
  Rng rng(1);
  const nn::Mlp other({784, 5, 10}, {}, rng);
  CHECK(refused([&](Plan& p) { p.start = &other; }).find("copy_parameters") != std::string::npos);
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace tinymp::test
