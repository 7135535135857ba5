#include <lessons/lab/learn/run_progress.h>
#include <lessons/lab/words/train_words.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/memory.h>
#include <chrono>
#include <cmath>
#include <limits>

namespace tinymp::lab {
namespace {

constexpr Adam::Options adam{.lr = 5e-3f};

train::RunHeader header_of(Lab& lab, const data::Text& text, const WordPlan& words,
                           const nn::LanguageModel& model) {
  const train::Plan plan = lab.complete({.question = words.question,
                                         .name = words.contender.name,
                                         .recipe = words.contender.recipe,
                                         .seed = words.seed,
                                         .optimizer_name = "adam lr=0.005",
                                         .steps = words.steps,
                                         .batch = words.rows});
  train::RunHeader header = train::header_of(plan, model);
  header.data = data::describe(text);
  header.metric = "validation perplexity";
  header.higher_is_better = false;
  return header;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What becomes of gradients and updates.
void add_shares(const kernels::GradientCounts& found, const DeviceValue<kernels::StepOutcome>& result,
                train::LogRecord& record) {
  record.zero = train::share(found.zeros, found.values);
  record.subnormal = train::share(found.subnormals, found.values);
  if (record.skipped || found.nonfinite > 0) return;  // NaN is not lost: it is gone
  const kernels::UpdateCounts updates = result.read().updates;
  record.underflowed = train::share(updates.underflowed, updates.values);
  record.absorbed = train::share(updates.absorbed, updates.values);
}

nn::LanguageModel model_of(const WordPlan& plan, Device device) {
  Rng rng = Rng(plan.seed).split(0);
  nn::LanguageModel model(plan.vocabulary, plan.width, plan.contender.recipe, rng);
  nn::move_to(model, device);
  return model;
}

struct Training {
  explicit Training(const WordPlan& plan, Device device)
      : recipe(plan.contender.recipe),
        model(model_of(plan, device)),
        optimizer(nn::tensors(model.parameters()), adam, recipe),
        scaler(recipe.scaling),
        products(model, recipe, Rng(plan.seed).split(3).seed()) {
    optimizer.set_rounding_seed(Rng(plan.seed).split(2).seed());  // 2 and 3, as in train::run
  }

  train::LogRecord take_step(const data::TextBlock& block, Observer* observer, bool logged);

  Recipe recipe;
  nn::LanguageModel model;
  Adam optimizer;
  LossScaler scaler;
  Float8Products products;
};

train::LogRecord Training::take_step(const data::TextBlock& block, Observer* observer, bool logged) {
  train::LogRecord record{.scale = static_cast<double>(scaler.factor()),
                          .lr = static_cast<double>(optimizer.learning_rate())};
  {
    const Autocast region(recipe);
    products.begin_step();
    const Float8Products::Region in_eight_bits(products);
    Tape tape(observer);
    const Tensor loss = cross_entropy(model(block.tokens, block.steps), block.targets);
    tape.backward(scaler.scale(loss));
    record.loss = loss.item();
  }
  products.end_step();
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  if (logged && check.finite())
    record.grad_norm = clip_norm(gradients, std::numeric_limits<float>::infinity()).item();
  const DeviceValue<kernels::StepOutcome> result = optimizer.step(gradients, check);
  record.skipped = !result.read().taken;
  if (logged) add_shares(check.counts(), result, record);
  scaler.update(std::move(check));
  optimizer.zero_grad();
  return record;
}

void count(const train::LogRecord& record, train::RunResult& result) {
  (record.skipped ? result.skipped : result.taken) += 1;
  if (result.first_nonfinite_step == 0 && !std::isfinite(record.loss))
    result.first_nonfinite_step = record.step;
}

/// Takes all steps; writes those that are logged, and what the watcher returns.
void take_steps(const data::Text& text, const WordPlan& plan, Training& training, WordWatcher& watcher,
                const train::MemoryMeter& memory, RunProgress& progress, train::RunLog& log,
                train::Run& run) {
  data::TextLoader loader(text.train, plan.rows, plan.length);
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t t = 1; t <= plan.steps; ++t) {
    const bool logged = train::is_due(t, 10) || t == plan.steps;
    const data::TextBlock block = loader.next();
    train::LogRecord record = [&] {
      const MemoryRegion counted(logged ? nullptr : memory.account());
      return training.take_step(block, logged ? watcher.begin() : nullptr, logged);
    }();
    record.step = t;
    count(record, *run.result);
    record.skips = run.result->skipped;
    progress.update(record);
    if (!logged) continue;
    const std::optional<train::StepSizes> sizes = watcher.end(block, record);
    record.epoch = static_cast<double>(t * plan.rows * plan.length) / static_cast<double>(text.train.size());
    record.seconds = seconds_since(start);
    log.write(record);
    run.steps.push_back(record);
    if (!sizes) continue;
    log.write_sizes(*sizes);
    run.sizes.push_back(*sizes);
  }
  progress.finish();
  run.result->seconds = seconds_since(start);
}

}  // namespace

void train_words(Lab& lab, const data::Text& text, const WordPlan& plan, WordWatcher& watcher,
                 const std::function<double(const nn::LanguageModel&)>& ask) {
  Training training(plan, lab.device());
  const train::RunHeader header = header_of(lab, text, plan, training.model);
  const std::string path = lab.log_path(header.name, plan.seed);
  train::RunLog log(path, header);
  train::Run run{path, log.header(), {}, train::RunResult{.value = 0}};
  RunProgress progress(header, path, lab.options(), lab.live());
  const train::MemoryMeter memory(training.model, training.optimizer);
  take_steps(text, plan, training, watcher, memory, progress, log, run);
  memory.tell(*run.result);
  {
    const Autocast region(training.recipe);
    const Float8Products::Region in_eight_bits(training.products);
    run.result->value = ask(training.model);
  }
  log.finish(*run.result);
  progress.tell(run);
  lab.add(std::move(run));
}

}  // namespace tinymp::lab
