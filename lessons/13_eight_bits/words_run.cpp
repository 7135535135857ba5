#include <lessons/13_eight_bits/words.h>
#include <lessons/lab/words/train_words.h>
#include <tinymp/base/error.h>
#include <tinymp/numeric/exp_log.h>
#include <tinymp/ops/ops.h>

namespace tinymp::lab {
namespace {

double perplexity(const Lab& lab, const nn::LanguageModel& model, const data::Text& text) {
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
  WordWatcher nothing;
  train_words(lab, text,
              {.question = question,
               .contender = contender,
               .seed = seed,
               .vocabulary = vocabulary,
               .width = words_width,
               .rows = words_rows,
               .length = words_length,
               .steps = lab.steps(150, 4)},
              nothing, [&](const nn::LanguageModel& model) { return perplexity(lab, model, text); });
}

}  // namespace tinymp::lab
