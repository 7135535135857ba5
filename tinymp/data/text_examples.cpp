#include <tinymp/base/error.h>
#include <tinymp/data/text_examples.h>
#include <algorithm>
#include <numeric>
#include <utility>

namespace tinymp::data {

TextExamples::TextExamples(std::span<const std::int32_t> tokens, std::int64_t vocabulary, TextAim aim,
                           std::int64_t steps)
    : tokens_(tokens), vocabulary_(vocabulary), aim_(aim), steps_(steps) {
  const bool masks = aim == TextAim::masked_tokens;
  const std::int64_t behind = masks ? 0 : 1;  // the token after the last is a label
  const std::int64_t read = std::ssize(tokens) - behind;
  if (steps >= 1 && read >= steps) count_ = read / steps;
  if (count_ < 1)
    throw UsageError(concat("no text of ", steps, " tokens can be cut from ", tokens.size(),
                            "; choose a shorter context, or a longer text"));
  asked_ = masks ? std::max<std::int64_t>(1, (15 * steps + 50) / 100) : steps;
}

TextExamples TextExamples::first(std::int64_t count) const {
  TextExamples part = *this;
  part.count_ = std::min(count, count_);
  return part;
}

void TextExamples::add(std::int64_t index, const Rng& of_epoch, TextRows& to) const {
  const auto begin = static_cast<std::size_t>(index * steps_), count = static_cast<std::size_t>(steps_);
  const std::int64_t before = std::ssize(to.tokens);
  const std::span<const std::int32_t> text = tokens_.subspan(begin, count);
  to.tokens.insert(to.tokens.end(), text.begin(), text.end());
  if (aim_ == TextAim::next_token) {
    const std::span<const std::int32_t> ahead = tokens_.subspan(begin + 1, count);
    to.labels.insert(to.labels.end(), ahead.begin(), ahead.end());
    return;
  }
  hide(of_epoch.split(static_cast<std::uint64_t>(index)), std::span(to.tokens).last(count), before, to);
}

void TextExamples::hide(Rng rng, std::span<std::int32_t> tokens, std::int64_t before, TextRows& to) const {
  std::vector<std::int32_t> places(tokens.size());
  std::iota(places.begin(), places.end(), 0);
  rng.shuffle(std::span(places));
  places.resize(static_cast<std::size_t>(asked_));
  std::ranges::sort(places);
  const auto known = static_cast<std::uint64_t>(vocabulary_);
  for (const std::int32_t place : places) {
    std::int32_t& token = tokens[static_cast<std::size_t>(place)];
    to.asked.push_back(static_cast<std::int32_t>(before) + place);
    to.labels.push_back(token);
    const std::uint64_t tenth = rng.below(10);
    if (tenth < 8) token = static_cast<std::int32_t>(vocabulary_);
    if (tenth == 8) token = static_cast<std::int32_t>(rng.below(known));
  }
}

}  // namespace tinymp::data
