#include <tests/train/resume.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/train/run_curves.h>

// What a log tells of a run besides its steps: norm of the gradients, epoch, seconds, validation.
namespace tinymp::test {
namespace {

/// The norm in float64 from the gradients of a twin that takes the same steps.
std::vector<double> norms_by_hand(const Plan& plan) {
  Rng rng = Rng(plan.seed).split(0);
  const nn::Mlp model({784, 12, 10}, plan.recipe, rng);
  Sgd optimizer(tensors(model.parameters()), {.lr = 0.05f}, plan.recipe);
  LossScaler scaler(plan.recipe.scaling);
  data::Loader loader(plan.data->train, plan.batch, Rng(plan.seed).split(1).seed());
  std::vector<double> norms;
  for (std::int64_t t = 1; t <= plan.steps; ++t) {
    const double scale = scaler.factor();
    Tape tape;
    tape.backward(scaler.scale(train::loss_of(plan.task, model, loader.next())));
    double squares = 0;
    for (const Tensor& p : tensors(model.parameters()))
      for (const double g : p.grad().to_doubles()) squares += g / scale * (g / scale);
    norms.push_back(std::sqrt(squares));
    Gradients gradients = optimizer.gradients();
    UnscaleResult check = scaler.unscale(gradients);
    if (plan.clip > 0) clip_norm(gradients, plan.clip);
    optimizer.step(gradients, check);
    scaler.update(std::move(check));
    optimizer.zero_grad();
  }
  return norms;
}

TEST_CASE("the norm in a log is that of all gradients, unscaled and before clipping") {
  Scratch scratch;
  const data::Split data = made_up_split();
  for (const Recipe& recipe : {recipes::fp32, recipes::fp16_static, recipes::fp16_dynamic}) {
    for (const float clip : {0.0f, 0.25f}) {
      INFO(describe(recipe) << ", clip " << clip);
      Plan plan = small_plan(data, recipe, 9);
      plan.optimizer = sgd(0.05f);
      plan.clip = clip;
      const std::vector<double> expected = norms_by_hand(plan);
      const Run run = train::run(plan, scratch.next());
      REQUIRE(run.steps.size() == expected.size());
      for (std::size_t i = 0; i < expected.size(); ++i) {
        INFO(i);
        if (std::isfinite(expected[i]))
          CHECK(run.steps[i].grad_norm == Approx(expected[i]).epsilon(1e-6));
        else
          CHECK(std::isnan(run.steps[i].grad_norm));
      }
      CHECK(train::load_run(run.path).steps[8].grad_norm == run.steps[8].grad_norm);
    }
  }
}

TEST_CASE("a step whose gradients are not finite has no norm") {
  Scratch scratch;
  const data::Split data = made_up_split();
  int skipped = 0;
  for (int exponent = 16; exponent <= 24; ++exponent) {  // infinities alone, then NaN among them
    Recipe recipe = recipes::fp16_dynamic;
    recipe.scaling = DynamicScaling{.initial = std::ldexp(1.0f, exponent)};
    for (const train::LogRecord& step : train::run(small_plan(data, recipe, 2), scratch.next()).steps) {
      INFO("S = 2^" << exponent << ", step " << step.step);
      CHECK(std::isnan(step.grad_norm) == step.skipped);
      skipped += step.skipped;
    }
  }
  CHECK(skipped > 4);
}

TEST_CASE("epochs are images seen, and the seconds of a log go up to those of its result") {
  Scratch scratch;
  const data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 7);
  plan.log_every = 3;
  plan.batch = 40;
  const Run run = train::run(plan, scratch.next());
  double before = 0;
  for (const train::LogRecord& step : run.steps) {
    CHECK(step.epoch == static_cast<double>(step.step) * 40 / 96);
    CHECK(step.seconds > before);
    before = step.seconds;
  }
  CHECK(run.result->seconds >= before);
  CHECK(std::isnan(run.steps[0].metric));
  CHECK(std::isnan(run.steps[0].validation_loss));
}

TEST_CASE("the seconds of a run that goes on begin at the last step that its log kept") {
  const data::Split data = made_up_split();
  Plan plan = saving_plan(data, recipes::fp32, 8);
  plan.log_every = 1;
  const OwnRun own;
  Plan stopped = plan;
  stopped.stop = [t = 0]() mutable { return ++t == 4; };
  train::run(stopped, own.log());
  std::string text = text_of(own.log());
  const std::size_t last = text.rfind("\"seconds\":") + 10;
  text.replace(last, text.find_first_of(",}", last) - last, "5000.0");
  std::ofstream(own.log()) << text;
  plan.resume = own.folder.path.string();
  const Run run = train::run(plan, own.log());
  CHECK(run.steps[3].seconds == 5000);
  CHECK(run.steps[4].seconds > 5000);
  CHECK(run.steps[4].seconds < 5100);
  CHECK(run.result->seconds >= run.steps[7].seconds);
}

/// What a fresh look at the first 1,000 validation images finds, in float64 over the model's logits.
std::pair<double, double> by_hand(const Plan& plan, const nn::Model& model) {
  const Autocast region(plan.recipe);
  const data::Dataset& all = plan.data->validation;
  const std::int64_t count = std::min<std::int64_t>(1000, all.count);
  double loss = 0, hits = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    data::Dataset one{
        .name = "one", .count = 1, .images = {}, .labels = {all.labels[static_cast<std::size_t>(i)]}};
    one.shape = all.shape;
    one.images.assign(all.image(i).begin(), all.image(i).end());
    const std::vector<double> y = model(data::InOrder(one, 1, plan.pixels)[0].images).to_doubles();
    const double largest = *std::ranges::max_element(y);
    double sum = 0;
    for (const double x : y) sum += std::exp(x - largest);
    loss += std::log(sum) + largest - y[one.labels[0]];
    hits += y[one.labels[0]] == largest;
  }
  return {loss / static_cast<double>(count), 100 * (hits / static_cast<double>(count))};
}

TEST_CASE("validation loss and metric are those of the first 1,000 images, at their steps and the last") {
  Scratch scratch;
  data::Split data = made_up_split();
  data.validation = made_up_images(1040, 7);
  // The images behind the first 1,000 would spoil both figures.
  for (std::size_t i = 1000; i < 1040; ++i) data.validation.labels[i] ^= 1;
  for (const Recipe& recipe : {recipes::fp32, recipes::o1}) {
    INFO(describe(recipe));
    Plan plan = small_plan(data, recipe, 11);
    plan.validate_every = 4;
    plan.log_every = 5;
    std::unique_ptr<nn::Model> model;
    const Run run = train::run(plan, scratch.next(), {}, &model);
    std::vector<std::int64_t> measured;
    for (const train::LogRecord& step : run.steps)
      if (!std::isnan(step.metric)) {
        CHECK(std::isfinite(step.validation_loss));
        measured.push_back(step.step);
      }
    CHECK(measured == std::vector<std::int64_t>{1, 4, 8, 11});
    const auto [loss, accuracy] = by_hand(plan, *model);
    const train::LogRecord last = train::load_run(run.path).steps.back();
    CHECK(last.validation_loss == Approx(loss).epsilon(recipe == recipes::fp32 ? 1e-6 : 1e-3));
    CHECK(last.metric == accuracy);
  }
}

TEST_CASE("an autoencoder's validation loss is its metric, and no validation images give neither") {
  Scratch scratch;
  data::Split data = made_up_split();
  Plan plan = small_plan(data, recipes::fp32, 3);
  plan.task = train::Task::reconstruct;
  plan.model = train::model_of<nn::Autoencoder>({784, 6, 784});
  plan.validate_every = 1;
  std::unique_ptr<nn::Model> model;
  const Run run = train::run(plan, scratch.next(), {}, &model);
  CHECK(run.steps.back().metric == run.steps.back().validation_loss);
  CHECK(run.steps.back().metric == Approx(train::measure(plan.task, *model, data.validation)).epsilon(1e-6));
  data.validation = made_up_images(0, 1);
  CHECK(std::isnan(train::run(plan, scratch.next()).steps.back().metric));
  plan.validate_every = -1;
  CHECK_SAYS("every -1 steps makes no run", train::run(plan, scratch.next()));
}

/// A plan whose model, data and S would show any bit that validation moves.
Plan touchy_plan(const data::Split& data, const Recipe& recipe, const train::ModelMaker& model) {
  Plan plan = saving_plan(data, recipe, 9);
  plan.model = model;
  plan.optimizer = made<Adam>({.lr = 1e-3f});
  plan.pixels.crop_and_flip = true;
  plan.log_every = 1;
  return plan;
}

TEST_CASE("measuring on validation data moves no bit: weights, averages, dropout, S, order of data") {
  const data::Split data = made_up_split();
  const std::vector<std::pair<const char*, train::ModelMaker>> models{
      {"batch norm", train::model_of<nn::BatchNormMlp>({784, 6, 5, 10})},
      {"dropout", [](const Recipe& r, Rng& rng) { return std::make_unique<Dropping>(r, rng); }}};
  for (const auto& [name, model] : models) {
    for (const Recipe& recipe : {recipes::fp32, recipes::fp16_dynamic, recipes::o1, recipes::o2}) {
      INFO(name << ", " << describe(recipe));
      const OwnRun without, with;
      Plan plan = touchy_plan(data, recipe, model);
      std::unique_ptr<nn::Model> a, b;
      const Run first = train::run(plan, without.log(), {}, &a);
      plan.validate_every = 2;
      const Run second = train::run(plan, with.log(), {}, &b);
      CHECK(first.result->weights == second.result->weights);
      CHECK(bits_of(*a) == bits_of(*b));
      REQUIRE(first.steps.size() == second.steps.size());
      for (std::size_t i = 0; i < first.steps.size(); ++i) {
        CHECK(first.steps[i].loss == second.steps[i].loss);
        CHECK(first.steps[i].scale == second.steps[i].scale);
      }
      CHECK(first.result->value == second.result->value);
      CHECK(std::isfinite(second.steps.back().metric));
      CHECK(std::isnan(first.steps.back().metric));
    }
  }
}

TEST_CASE("a resumed run has the same norms, epochs and validation curve as one that was never stopped") {
  const data::Split data = made_up_split();
  Plan plan = touchy_plan(data, recipes::fp16_dynamic, train::model_of<nn::BatchNormMlp>({784, 6, 5, 10}));
  plan.validate_every = 3;
  plan.log_every = 4;
  plan.clip = 0.5f;
  const Outcome outcome = check_resumes(plan, {1, 3, 4, 7, 8});
  CHECK(outcome.log.back().find("\"value\"") != std::string::npos);
  CHECK(std::ranges::count_if(outcome.log, [](const std::string& line) {
          return line.find("\"validation_loss\"") != std::string::npos;
        }) == 4);  // steps 1, 3, 6, 9
}

}  // namespace
}  // namespace tinymp::test
