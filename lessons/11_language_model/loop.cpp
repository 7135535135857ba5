#include <lessons/11_language_model/errors.h>
#include <lessons/11_language_model/loop.h>
#include <lessons/lab/learn/run_progress.h>
#include <tinymp/amp/autocast.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/data/text.h>
#include <tinymp/optim/optimizers.h>
#include <tinymp/train/memory.h>
#include <chrono>
#include <cmath>
#include <limits>

namespace tinymp::lab {
namespace {

constexpr Adam::Options adam{.lr = 5e-3f};
constexpr std::int64_t looked_at = 1024;  ///< tokens whose errors the page counts by size

train::RunHeader header_of(Lab& lab, const Contender& contender, std::uint64_t seed,
                           const nn::LanguageModel& model) {
  const train::Plan plan = lab.complete({.question = survive,
                                         .name = contender.name,
                                         .recipe = contender.recipe,
                                         .seed = seed,
                                         .optimizer_name = "adam lr=0.005",
                                         .steps = lab.steps(120, 2),
                                         .batch = rows});
  train::RunHeader header = train::header_of(plan, model);
  header.data = data::describe(lab.text(words));
  header.metric = "validation perplexity";
  header.higher_is_better = false;
  return header;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What only the log has.
void add_details(const LogitErrors& errors, const kernels::GradientCounts& found,
                 const DeviceValue<kernels::StepOutcome>& result, train::LogRecord& record) {
  record.zero = train::share(found.zeros, found.values);
  record.subnormal = train::share(found.subnormals, found.values);
  record.flushed = errors.flushed();
  if (record.skipped || found.nonfinite > 0) return;  // NaN is not lost: it is gone
  const kernels::UpdateCounts updates = result.read().updates;
  record.underflowed = train::share(updates.underflowed, updates.values);
  record.absorbed = train::share(updates.absorbed, updates.values);
}

/// One step. `errors` is null if the step is not observed; its record then has no shares.
train::LogRecord take_step(const nn::LanguageModel& model, const Recipe& recipe, Optimizer& optimizer,
                           LossScaler& scaler, const Float8Products& products, const data::TextBlock& block,
                           LogitErrors* errors) {
  train::LogRecord record{.scale = static_cast<double>(scaler.factor()),
                          .lr = static_cast<double>(optimizer.learning_rate())};
  {
    const Autocast region(recipe);
    products.begin_step();
    const Float8Products::Region in_eight_bits(products);
    Tape tape(errors);
    const Tensor loss = cross_entropy(model(block.tokens, block.steps), block.targets);
    tape.backward(scaler.scale(loss));
    record.loss = loss.item();
  }
  products.end_step();
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  if (errors != nullptr && check.finite())
    record.grad_norm = clip_norm(gradients, std::numeric_limits<float>::infinity()).item();
  const DeviceValue<kernels::StepOutcome> result = optimizer.step(gradients, check);
  record.skipped = !result.read().taken;
  if (errors != nullptr) add_details(*errors, check.counts(), result, record);
  scaler.update(std::move(check));
  optimizer.zero_grad();
  return record;
}

}  // namespace

Trained train_words(Lab& lab, const Contender& contender, std::uint64_t seed) {
  const data::Text& text = lab.text(words);
  data::TextLoader loader(text.train, rows, length);
  Rng rng = Rng(seed).split(0);
  const nn::LanguageModel model(words, width, contender.recipe, rng);
  nn::move_to(model, lab.device());
  Adam optimizer(tensors(model.parameters()), adam, contender.recipe);
  optimizer.set_rounding_seed(Rng(seed).split(2).seed());  // 2 and 3, as in train::run
  LossScaler scaler(contender.recipe.scaling);
  const Float8Products products(model, contender.recipe, Rng(seed).split(3).seed());

  const train::RunHeader header = header_of(lab, contender, seed, model);
  const std::string path = lab.log_path(header.name, seed);
  train::RunLog log(path, header);
  std::vector<Left> left;
  train::Run run{path, log.header(), {}, train::RunResult{.value = 0}};
  RunProgress progress(header, path, lab.options(), lab.live());
  const train::MemoryMeter memory(model, optimizer);
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t t = 1; t <= header.steps; ++t) {
    const bool logged = train::is_due(t, 10) || t == header.steps;
    const data::TextBlock block = loader.next();
    LogitErrors errors;
    train::LogRecord record = [&] {
      const MemoryRegion counted(logged ? nullptr : memory.account());
      return take_step(model, contender.recipe, optimizer, scaler, products, block,
                       logged ? &errors : nullptr);
    }();
    record.step = t;
    (record.skipped ? run.result->skipped : run.result->taken) += 1;
    record.skips = run.result->skipped;
    if (run.result->first_nonfinite_step == 0 && !std::isfinite(record.loss))
      run.result->first_nonfinite_step = t;
    progress.update(record);
    if (!logged) continue;
    record.epoch = static_cast<double>(t * rows * length) / static_cast<double>(text.train.size());
    record.seconds = seconds_since(start);
    log.write(record);
    run.steps.push_back(record);
    left.push_back({t, errors.flushed(), errors.down_kept()});
    if (t < header.steps) continue;
    run.sizes.push_back(
        {t,
         record.scale,
         {{"errors at the logits", errors.sizes(block.targets, looked_at, record.scale), {}}}});
    log.write_sizes(run.sizes.back());
  }
  progress.finish();
  run.result->seconds = seconds_since(start);
  memory.tell(*run.result);
  const Answers answers = [&] {  // in the formats of training
    const Autocast region(contender.recipe);
    const Float8Products::Region in_eight_bits(products);
    return ask(lab, model, text.validation);
  }();
  run.result->value = answers.perplexity;
  log.finish(*run.result);
  progress.tell(run);
  lab.add(std::move(run));
  return {std::move(left), answers};
}

}  // namespace tinymp::lab
