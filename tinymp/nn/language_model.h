#pragma once

#include <tinymp/nn/layers.h>
#include <tinymp/nn/linear.h>
#include <tinymp/nn/module.h>

namespace tinymp::nn {

/// Predicts the next word: an embedding table with a row for each word, an LSTM, and a linear layer with a
/// logit for each word.
class LanguageModel : public Model {
 public:
  /// V = `words`; all three layers are `width` wide.
  LanguageModel(std::int64_t words, std::int64_t width, const Recipe& recipe, Rng& rng);

  /// (B T,V) the logits of the word after each of the tokens (B,T): B texts of T = `steps`, one after
  /// another. The loss is the cross_entropy of the logits and the next tokens;
  /// its exponential is the perplexity.
  Tensor operator()(std::span<const std::int32_t> tokens, std::int64_t steps) const;
  Tensor operator()(const Indices& tokens,
                    std::int64_t steps) const;  ///< of tokens on the device of the model
  /// The same of texts. Throws Error when some of their tokens are asked for, or some are padding.
  Tensor read(const Texts& texts) const override;
  Tensor operator()(const Tensor& images) const override;  ///< throws Error: it reads texts

  std::vector<Parameter> parameters() const override;
  std::string name() const override;

 private:
  Tensor table_;  ///< (V,H), recipe.compute; uniform with variance 1 at first
  Lstm lstm_;
  Linear out_;
};

}  // namespace tinymp::nn
