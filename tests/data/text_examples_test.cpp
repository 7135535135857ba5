#include <tests/base/says.h>
#include <tests/catch.h>
#include <tinymp/data/loader.h>
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace tinymp::test {
namespace {

using data::TextAim;
using data::TextExamples;
using data::TextRows;
using Numbers = std::vector<std::int32_t>;

Numbers counted(std::int32_t n) {
  Numbers tokens(static_cast<std::size_t>(n));
  std::iota(tokens.begin(), tokens.end(), 0);
  return tokens;
}

Numbers numbers_of(const Indices& x) { return {x.view().begin(), x.view().end()}; }

TEST_CASE("TextExamples: the next token of each, and what is left at the end is not read") {
  const Numbers tokens = counted(11);
  const TextExamples texts(tokens, 11, TextAim::next_token, 3);
  CHECK(texts.count() == 3);
  CHECK(texts.asked() == 3);
  CHECK(texts.words() == 11);
  TextRows rows;
  texts.add(2, Rng(1), rows);
  texts.add(0, Rng(1), rows);
  CHECK(rows.tokens == Numbers{6, 7, 8, 0, 1, 2});
  CHECK(rows.labels == Numbers{7, 8, 9, 1, 2, 3});
  CHECK(rows.asked.empty());
  CHECK(TextExamples(tokens, 11, TextAim::next_token, 10).count() == 1);
  CHECK(TextExamples(tokens, 11, TextAim::masked_tokens, 11).count() == 1);
  CHECK(texts.first(2).count() == 2);
  CHECK(texts.first(20).count() == 3);
  CHECK_THROWS_AS(TextExamples(tokens, 11, TextAim::next_token, 11), UsageError);
  CHECK_THROWS_AS(TextExamples(tokens, 11, TextAim::masked_tokens, 0), UsageError);
}

TEST_CASE("TextExamples: 15 % are asked for, of these 80 % are hidden, 10 % another token, 10 % stay") {
  constexpr std::int32_t vocabulary = 1000;
  Numbers tokens(40 * 20 * 50);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<std::int32_t>(i * 7 % vocabulary);
  const TextExamples texts(tokens, vocabulary, TextAim::masked_tokens, 40);
  CHECK(texts.asked() == 6);
  CHECK(texts.words() == vocabulary + 1);
  std::int64_t asked = 0, hidden = 0, same = 0, elsewhere = 0;
  std::vector<std::int64_t> at(40);
  for (std::uint64_t epoch = 0; epoch < 10; ++epoch) {
    TextRows rows;
    for (std::int64_t i = 0; i < texts.count(); ++i) texts.add(i, Rng(9).split(epoch), rows);
    asked += std::ssize(rows.asked);
    const std::set<std::int32_t> places(rows.asked.begin(), rows.asked.end());
    CHECK(std::ssize(places) == std::ssize(rows.asked));
    for (std::size_t n = 0; n < rows.asked.size(); ++n) {
      const auto place = static_cast<std::size_t>(rows.asked[n]);
      CHECK(rows.labels[n] == tokens[place]);
      CHECK(place / 40 == n / 6);
      ++at[place % 40];
      hidden += rows.tokens[place] == vocabulary;
      same += rows.tokens[place] == tokens[place];
    }
    for (std::size_t i = 0; i < rows.tokens.size(); ++i)
      elsewhere += !places.contains(static_cast<std::int32_t>(i)) && rows.tokens[i] != tokens[i];
  }
  CHECK(asked == 10 * 1000 * 6);
  CHECK(elsewhere == 0);
  const auto near = [&](std::int64_t count, double share) {  // 5 standard deviations
    const double all = static_cast<double>(asked);
    return std::fabs(static_cast<double>(count) - share * all) < 5 * std::sqrt(all * share * (1 - share));
  };
  INFO(hidden << " hidden, " << same << " as they were, of " << asked);
  CHECK(near(hidden, 0.8));
  CHECK(near(same, 0.1 + 0.1 / vocabulary));
  for (const std::int64_t count : at) CHECK(near(count, 1.0 / 40));
  CHECK(TextExamples(tokens, vocabulary, TextAim::masked_tokens, 3).asked() == 1);
}

TEST_CASE(
    "a loader of texts: each epoch has another order and shows a text once, places are those of the batch") {
  const Numbers tokens = counted(60);
  const TextExamples texts(tokens, 60, TextAim::masked_tokens, 6);
  data::Loader loader(texts, 4, 3), again(texts, 4, 3);
  CHECK(loader.batches_per_epoch() == 2);
  std::vector<Numbers> firsts;
  for (int i = 0; i < 6; ++i) {
    const data::Loader::Position place = loader.position();
    const TextRows expected = loader.texts(4 * place.drawn, 4);
    const data::Batch batch = loader.next(), same = again.next();
    REQUIRE(batch.texts.has_value());
    CHECK(batch.texts->steps == 6);
    CHECK(batch.size() == 4);
    CHECK(numbers_of(batch.texts->tokens) == expected.tokens);
    CHECK(numbers_of(batch.texts->asked.value()) == expected.asked);
    CHECK(batch.labels == expected.labels);
    CHECK(numbers_of(same.texts->tokens) == expected.tokens);
    for (const std::int32_t at : expected.asked) CHECK((at >= 0 && at < 24));
    firsts.push_back(batch.labels);
  }
  CHECK(firsts[0] != firsts[2]);
  data::Loader resumed(texts, 4, 3);
  resumed.go_to({2, 1});
  CHECK(resumed.next().labels == firsts[5]);
  CHECK_THROWS_AS(data::Loader(texts, 11, 3), UsageError);
  const data::Batch last = data::texts_in_order(texts, 8, 4);
  CHECK(last.texts->tokens.size() == 12);
  CHECK(last.labels == data::texts_in_order(texts, 8, 4).labels);
}

}  // namespace
}  // namespace tinymp::test
