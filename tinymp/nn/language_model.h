#pragma once

#include <tinymp/nn/layers.h>
#include <tinymp/nn/linear.h>
#include <tinymp/nn/module.h>

namespace tinymp::nn {

/// Says which word comes next: a row of `table` for each word, an LSTM over them, and a linear layer to a
/// logit for every word there is.
class LanguageModel : public Module {
 public:
  /// V = `words`; all three layers are `width` wide.
  LanguageModel(std::int64_t words, std::int64_t width, const Recipe& recipe, Rng& rng);

  /// (B T,V) the logits of what follows each of the tokens (B,T), one text of T = `steps` behind the other.
  /// cross_entropy of them and the tokens that did follow is the loss; its exponential the perplexity.
  Tensor operator()(std::span<const std::int32_t> tokens, std::int64_t steps) const;

  std::vector<Parameter> parameters() const override;
  std::string name() const override;

 private:
  Tensor table_;  ///< (V,H), recipe.compute; uniform with a variance of 1 at first
  Lstm lstm_;
  Linear out_;
};

}  // namespace tinymp::nn
