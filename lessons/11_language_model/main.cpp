// Lesson 11 - A language model: why does it need loss scaling when a classifier of images does not?
//
// A word model chooses among thousands of words, and its loss is a mean over thousands of tokens: the error
// at a word that did not follow is p / tokens, and with p near 1/V it is below 2^-25 when V x tokens is above
// 2^25. Then FP16 flushes nearly every push down, and only the word that did follow is still pushed up. The
// three curves of Micikevicius et al. 2018 on a small LSTM. Expected: S = 1 lags behind FP32 by 10 % in
// validation perplexity and more, S = 128 falls together with it; a dynamic S and BF16 do, too. It lags, it
// does not diverge.

#include <fmt/format.h>
#include <lessons/11_language_model/questions.h>
#include <tinymp/numeric/exp_log.h>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

/// Perplexity of a model that only counts the words of the training text (each word once more).
double perplexity_of_counts(const data::Text& text) {
  std::vector<double> counts(static_cast<std::size_t>(words), 1.0);
  for (const std::int32_t token : text.train) counts[static_cast<std::size_t>(token)] += 1;
  double sum = 0;
  for (const std::int32_t token : text.validation)
    sum += tinymp::log(counts[static_cast<std::size_t>(token)]);
  const auto all = static_cast<double>(static_cast<std::int64_t>(text.train.size()) + words);
  return tinymp::exp(tinymp::log(all) - sum / static_cast<double>(text.validation.size()));
}

void experiment(Lab& lab) {
  const double counts = perplexity_of_counts(lab.text(words));
  lab.say(fmt::format("Validation perplexity of a guess among {} words: {}; of counting words: {:.0f}", words,
                      words, counts));
  lab.number("validation perplexity of counting words", counts);
  show_condition(lab);
  AllTrained all;
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : contenders(lab))
      all[contender.name].push_back(train_words(lab, contender, seed));
  }
  for (const char* name : {unscaled, scaled}) show_left(lab, all, name);
  show_rare(lab, all);
  claim_errors(lab, all);
  claim_perplexity(lab);
  claim_rare(lab, all);
}

}  // namespace

int main(int argc, char** argv) { return run_lesson(argc, argv, "11_language_model", experiment); }
