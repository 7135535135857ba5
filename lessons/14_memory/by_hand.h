#pragma once

#include <tinymp/nn/transformer.h>
#include <string>
#include <vector>

/// Attention as it is often written: a product, a mask, a softmax, a product, each an op of its own that stores its result
/// in the format of the model.
namespace tinymp::lab {

struct ByHand {
  enum class Mask : std::uint8_t {
    added,       ///< scores + m, where m is 0 or -1e9: the latter is minus infinity in FP16
    as_product,  ///< scores + h * -1e9, where h is 1 at hidden places and 0 elsewhere
    own_too,     ///< as `added`, but a token does not see itself: the first token of a text sees nothing
  };
  enum class Softmax : std::uint8_t {
    fused,       ///< softmax(): the maximum subtracted, sums in FP32, rounded once
    no_maximum,  ///< exp(z) / sum of exp(z)
    fp16_sum,    ///< the maximum subtracted, exp(z) / sum of exp(z), summed in FP16
  };
  Mask mask = Mask::added;
  Softmax softmax = Softmax::fused;
  bool root = true;  ///< scores are divided by sqrt d
};

/// p of scores (R,S), by rows.
Tensor softmax_by_hand(const Tensor& scores, ByHand::Softmax way);
/// scores (R,S) with a mask over them; hidden: R S values, 1 where a row does not see.
Tensor masked_by_hand(const Tensor& scores, const std::vector<float>& hidden, ByHand::Mask way);

/// The decoder of nn::Transformer with attention by hand. The same rng gives the same first weights. All texts of a batch
/// make one matrix of scores for each head; the mask hides other texts, too.
class DecoderByHand final : public nn::Model {
 public:
  DecoderByHand(const nn::TransformerSizes& sizes, ByHand how, const Recipe& recipe, Rng& rng);

  Tensor read(const Texts& texts) const override;
  Tensor operator()(const Tensor& images) const override;  ///< throws Error: it reads texts
  std::vector<nn::Parameter> parameters() const override;
  std::string output_layer() const override { return "embedding"; }
  std::string name() const override { return "decoder by hand"; }

 private:
  Tensor attend(const nn::TransformerBlock& block, const Tensor& x, const std::vector<float>& hidden) const;

  nn::TransformerSizes sizes_;
  ByHand how_;
  DType accumulate_;
  Tensor table_, positions_;
  std::vector<nn::TransformerBlock> blocks_;
  nn::LayerNorm norm_;
};

}  // namespace tinymp::lab
