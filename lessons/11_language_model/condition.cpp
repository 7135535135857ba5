#include <fmt/format.h>
#include <lessons/11_language_model/errors.h>
#include <lessons/11_language_model/questions.h>
#include <tinymp/nn/language_model.h>
#include <array>
#include <vector>

namespace tinymp::lab {
namespace {

/// Tokens of the training text, from its beginning again where it is too short. What a smaller vocabulary
/// would not hold is <unk>: the text's numbers go by frequency.
std::vector<std::int32_t> tokens_from(const data::Text& text, std::size_t first, std::int64_t count,
                                      std::int64_t vocabulary) {
  std::vector<std::int32_t> tokens;
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
    const std::int32_t token = text.train[(first + i) % text.train.size()];
    tokens.push_back(token < vocabulary ? token : 0);
  }
  return tokens;
}

double flushed(Lab& lab, std::int64_t vocabulary, std::int64_t tokens) {
  const data::Text& text = lab.text(words);
  Rng rng = Rng(lab.options().first_seed).split(0);
  const nn::LanguageModel model(vocabulary, width, recipes::fp16_master, rng);
  nn::move_to(model, lab.device());
  const std::vector<std::int32_t> read = tokens_from(text, 0, tokens, vocabulary),
                                  next = tokens_from(text, 1, tokens, vocabulary);
  LogitErrors errors;
  Tape tape(&errors);
  tape.backward(cross_entropy(model(read, length), next));
  return errors.flushed();
}

}  // namespace

void show_condition(Lab& lab) {
  constexpr std::array<int, 3> vocabularies{11, 13, 15};  // as powers of two
  lab.say("\nOne backward of a new model, S = 1: errors at the logits that FP16 flushes (%)");
  lab.say("V x tokens    V = 2048    V = 8192   V = 32768");
  std::vector<double> before, after;  // the line
  for (int product = 22; product <= lab.steps(27, 26); ++product) {
    std::string line = fmt::format("      2^{}", product);
    for (const int v : vocabularies) {
      const double share = 100 * flushed(lab, 1 << v, 1 << (product - v));
      line += fmt::format(" {:>11.1f}", share);
      if (product < 25) before.push_back(share);
      if (product > 25) after.push_back(share);
    }
    lab.say(line);
  }
  const double most_before = largest(before), fewest_after = smallest(after);
  lab.claim(
      most_before <= 1 && fewest_after >= 99,
      fmt::format("a new model, S = 1: V x tokens = 2^24 loses {} % of the errors (1 allowed), 2^26 {} % "
                  "(99 asked)",
                  fixed(most_before, 1), fixed(fewest_after, 1)),
      Lab::Judged::in_smoke_too);
}

}  // namespace tinymp::lab
