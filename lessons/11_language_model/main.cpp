// Lesson 11 - A language model: why does it need loss scaling when a classifier of images does not?
//
// A word model chooses among thousands of words, and its loss is a mean over thousands of tokens: the error
// at a word that did not follow is p / tokens, and with p near 1/V it is below 2^-25 when V x tokens is above
// 2^25. Then FP16 flushes nearly every push down, and only the word that did follow is still pushed up. The
// three curves of Micikevicius et al. 2018 on a small LSTM. Expected: S = 1 lags behind FP32 by 10 % in
// validation perplexity and more, S = 128 falls together with it; a dynamic S and BF16 do, too. It lags, it
// does not diverge.

#include <fmt/format.h>
#include <lessons/11_language_model/condition.h>
#include <lessons/11_language_model/loop.h>
#include <tinymp/numeric/exp_log.h>
#include <algorithm>

using namespace tinymp;
using namespace tinymp::lab;

namespace {

/// Of always answering how often each word comes in the training text, every word counted once more.
double perplexity_of_counts(const data::Text& text) {
  std::vector<double> counts(static_cast<std::size_t>(words), 1.0);
  for (const std::int32_t token : text.train) counts[static_cast<std::size_t>(token)] += 1;
  double sum = 0;
  for (const std::int32_t token : text.validation)
    sum += tinymp::log(counts[static_cast<std::size_t>(token)]);
  const auto all = static_cast<double>(static_cast<std::int64_t>(text.train.size()) + words);
  return tinymp::exp(tinymp::log(all) - sum / static_cast<double>(text.validation.size()));
}

/// Over all seeds and logged steps, in %.
std::pair<double, double> flushed(const Lab& lab, const char* name) {
  double fewest = 100, most = 0;
  for (const train::Run* run : lab.runs(survive, name)) {
    for (const train::StepRecord& step : run->steps) {
      fewest = std::min(fewest, 100 * step.flushed);
      most = std::max(most, 100 * step.flushed);
    }
  }
  return {fewest, most};
}

std::vector<double> times_fp32(const Lab& lab, const char* name) {
  return ratios(lab.results(survive, name), lab.results(survive, fp32));
}

void claim_as_fp32(Lab& lab, const char* name) {
  const double most = largest(times_fp32(lab, name));
  lab.claim(most <= 1.02,
            fmt::format("{}: at most {} times FP32's perplexity (1.02 allowed)", name, fixed(most, 3)));
}

/// What becomes of the errors of a curve as its model learns.
void show_left(Lab& lab, const std::string& name, const std::vector<Left>& left) {
  lab.say(fmt::format("\n{}, seed {}: the errors at the logits", name, lab.options().first_seed));
  lab.say("   step   flushed (%)   of the pushes down is left (%)");
  for (const Left& at : left) {
    if (at.step > 10 && at.step % 30 != 0) continue;
    lab.say(fmt::format("{:>7} {:>13.2f} {:>32.2f}", at.step, 100 * at.flushed, 100 * at.down_kept));
  }
}

/// Nobody pushes rare words down at S = 1.
void show_rare(Lab& lab, const std::map<std::string, Trained>& trained) {
  const std::vector<std::int32_t>& tokens = lab.text(words).validation;
  const auto count = std::ranges::count_if(tokens, [](std::int32_t token) { return token >= rare; });
  lab.say(fmt::format("\nWords that are not among the {} most frequent, seed {} (%)", rare,
                      lab.options().first_seed));
  const auto row = [&](const std::string& who, double share) {
    lab.say(fmt::format("  {:<28} {:>6.1f}", who, 100 * share));
  };
  row("in the validation text", static_cast<double>(count) / static_cast<double>(tokens.size()));
  for (const Contender& contender : contenders(lab))
    row("expected by " + contender.name, trained.at(contender.name).answers.rare);
}

void experiment(Lab& lab) {
  const double counts = perplexity_of_counts(lab.text(words));
  lab.say(fmt::format("Validation perplexity of a guess among {} words: {}; of counting words: {:.0f}", words,
                      words, counts));
  lab.number("validation perplexity of counting words", counts);
  show_condition(lab);
  std::map<std::string, Trained> first_seed;
  for (const std::uint64_t seed : lab.seeds()) {
    for (const Contender& contender : contenders(lab))
      first_seed.emplace(contender.name, train_words(lab, contender, seed));
  }
  for (const char* name : {unscaled, scaled}) show_left(lab, name, first_seed.at(name).left);
  show_rare(lab, first_seed);
  const double behind = smallest(times_fp32(lab, unscaled));
  lab.verdict(survive, fmt::format("S = 1 ends at {} times FP32's perplexity or more, S = 128 at {} times or "
                                   "less.",
                                   fixed(behind, 2), fixed(largest(times_fp32(lab, scaled)), 3)));
  const double lost = flushed(lab, unscaled).first, lost_still = flushed(lab, scaled).second;
  lab.claim(
      lost >= 90,
      fmt::format("S = 1: of the errors at the logits {} % or more are flushed (90 asked)", fixed(lost, 1)),
      Lab::Judged::in_smoke_too);
  lab.claim(lost_still <= 5, fmt::format("S = 128: {} % or less (5 allowed)", fixed(lost_still, 1)),
            Lab::Judged::in_smoke_too);
  lab.claim(behind >= 1.1,
            fmt::format("S = 1: at least {} times FP32's perplexity (1.10 asked)", fixed(behind, 2)));
  for (const char* name : {scaled, dynamic, bf16}) claim_as_fp32(lab, name);
}

}  // namespace

int main(int argc, char** argv) {
  return run_lesson(argc, argv,
                    {.name = "11_language_model",
                     .title = "A language model: does it need loss scaling?",
                     .question = "Trains a word LSTM in FP32 and in FP16 with S = 1, S = 128 and a dynamic S",
                     .sabotage = "scale",
                     .data = {"text", "course"}},
                    experiment);
}
