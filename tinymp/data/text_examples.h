#pragma once

#include <tinymp/base/rng.h>
#include <cstdint>
#include <span>
#include <vector>

namespace tinymp::data {

/// What a model is to tell of a text.
enum class TextAim : std::uint8_t {
  next_token,  ///< of each token the one that follows
  /// Some tokens are hidden; their names. Devlin et al. 2019 (arXiv 1810.04805), section 3.1, task 1, and appendix A.1.
  masked_tokens,
};

/// Some texts as a model reads them, with what it is asked.
struct TextRows {
  std::vector<std::int32_t> tokens{};  ///< (B T)
  std::vector<std::int32_t> asked{};   ///< (A) places in 0 .. B T - 1; empty: every token is asked for
  std::vector<std::int32_t> labels{};  ///< of each place that is asked for
};

/// Texts of T tokens, cut out of a long one: text i has the tokens from i T on. What is left at the end is not read.
///
/// With masks the model is asked for the same number of tokens in every text, 15 % rounded, and at least one: so every batch
/// has one shape. 80 % of these become the mask, 10 % any token, 10 % stay as they are. The draws depend on (epoch, text)
/// alone.
class TextExamples {
 public:
  /// Keeps a view of `tokens`, numbers in 0 .. vocabulary - 1. Throws UsageError unless there is at least one text.
  TextExamples(std::span<const std::int32_t> tokens, std::int64_t vocabulary, TextAim aim,
               std::int64_t steps);
  TextExamples(std::vector<std::int32_t>&&, std::int64_t, TextAim,
               std::int64_t) = delete;  // the view would dangle

  std::int64_t count() const { return count_; }
  std::int64_t steps() const { return steps_; }  ///< T
  std::int64_t asked() const { return asked_; }  ///< labels of a text
  TextAim aim() const { return aim_; }
  /// The tokens that a model must know: with masks one more than the vocabulary, the mask itself, which is the last.
  std::int64_t words() const { return words_of(vocabulary_, aim_); }
  static std::int64_t words_of(std::int64_t vocabulary, TextAim aim) {
    return vocabulary + (aim == TextAim::masked_tokens ? 1 : 0);
  }
  /// The first `count` of these texts, or all.
  TextExamples first(std::int64_t count) const;

  /// Adds text `index`, as an epoch with this generator shows it.
  void add(std::int64_t index, const Rng& of_epoch, TextRows& to) const;

 private:
  void hide(Rng rng, std::span<std::int32_t> tokens, std::int64_t before, TextRows& to) const;

  std::span<const std::int32_t> tokens_;
  std::int64_t vocabulary_;
  TextAim aim_;
  std::int64_t steps_, count_ = 0, asked_ = 0;
};

}  // namespace tinymp::data
