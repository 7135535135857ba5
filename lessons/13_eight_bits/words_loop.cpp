#include <lessons/13_eight_bits/words.h>
#include <lessons/lab/learn/run_progress.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/base/error.h>
#include <tinymp/nn/language_model.h>
#include <tinymp/numeric/exp_log.h>
#include <tinymp/optim/optimizers.h>
#include <chrono>
#include <cmath>

// The loop of lesson 11 with a region of products in FP8: train::run trains on images.
namespace tinymp::lab {
namespace {

constexpr Adam::Options adam{.lr = 5e-3f};

train::RunHeader header_of(Lab& lab, const data::Text& text, const std::string& question,
                           const Contender& contender, std::uint64_t seed, const nn::LanguageModel& model) {
  const train::Plan plan = lab.complete({.question = question,
                                         .name = contender.name,
                                         .recipe = contender.recipe,
                                         .seed = seed,
                                         .optimizer_name = "adam lr=0.005",
                                         .steps = lab.steps(150, 4),
                                         .batch = words_rows});
  train::RunHeader header = train::header_of(plan, model);
  header.data = data::describe(text);
  header.metric = "validation perplexity";
  header.higher_is_better = false;
  return header;
}

train::LogRecord take_step(const nn::LanguageModel& model, Optimizer& optimizer, LossScaler& scaler,
                           const Float8Products& products, const data::TextBlock& block) {
  train::LogRecord record{.scale = static_cast<double>(scaler.factor()),
                          .lr = static_cast<double>(optimizer.learning_rate())};
  {
    products.begin_step();
    const Float8Products::Region region(products);
    Tape tape;
    const Tensor loss = cross_entropy(model(block.tokens, block.steps), block.targets);
    tape.backward(scaler.scale(loss));
    record.loss = loss.item();
  }
  products.end_step();
  Gradients gradients = optimizer.gradients();
  UnscaleResult check = scaler.unscale(gradients);
  const kernels::GradientCounts found = check.counts();
  record.zero = train::share(found.zeros, found.values);
  record.skipped = !optimizer.step(gradients, check).read().taken;
  scaler.update(std::move(check));
  optimizer.zero_grad();
  return record;
}

double perplexity(const Lab& lab, const nn::LanguageModel& model, const Float8Products& products,
                  const data::Text& text) {
  const Float8Products::Region region(products);
  data::TextLoader loader(text.validation, 64, words_length);
  const std::int64_t blocks = lab.steps(loader.blocks_per_epoch(), 1);
  double losses = 0;
  for (std::int64_t i = 0; i < blocks; ++i) {
    const data::TextBlock block = loader.next();
    losses += cross_entropy(model(block.tokens, block.steps), block.targets).item();
  }
  return tinymp::exp(losses / static_cast<double>(blocks));
}

}  // namespace

std::unique_ptr<data::Text> text_of_words(Lab& lab) {
  try {
    return std::make_unique<data::Text>(data::load_text(vocabulary));
  } catch (const MissingError&) {
    if (lab.options().verify && !lab.options().smoke) throw;
    lab.say("\nThe text for the word model is not here: ./learn data text fetches it.");
    return nullptr;
  }
}

void train_words(Lab& lab, const data::Text& text, const std::string& question, const Contender& contender,
                 std::uint64_t seed) {
  data::TextLoader loader(text.train, words_rows, words_length);
  Rng rng = Rng(seed).split(0);
  const nn::LanguageModel model(vocabulary, words_width, contender.recipe, rng);
  Adam optimizer(nn::tensors(model.parameters()), adam, contender.recipe);
  optimizer.set_rounding_seed(Rng(seed).split(2).seed());
  LossScaler scaler(contender.recipe.scaling);
  const Float8Products products(model, contender.recipe, Rng(seed).split(3).seed());

  const train::RunHeader header = header_of(lab, text, question, contender, seed, model);
  const std::string path = lab.log_path(header.name, seed);
  train::RunLog log(path, header);
  train::Run run{path, log.header(), {}, train::RunResult{}};
  RunProgress progress(header, path, lab.options(), lab.live());
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t t = 1; t <= header.steps; ++t) {
    train::LogRecord record = take_step(model, optimizer, scaler, products, loader.next());
    record.step = t;
    (record.skipped ? run.result->skipped : run.result->taken) += 1;
    record.skips = run.result->skipped;
    if (run.result->first_nonfinite_step == 0 && !std::isfinite(record.loss))
      run.result->first_nonfinite_step = t;
    progress.update(record);
    if (!train::is_due(t, 10) && t != header.steps) continue;
    log.write(record);
    run.steps.push_back(record);
  }
  progress.finish();
  run.result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.result->value = perplexity(lab, model, products, text);
  log.finish(*run.result);
  progress.tell(run);
  lab.add(std::move(run));
}

}  // namespace tinymp::lab
