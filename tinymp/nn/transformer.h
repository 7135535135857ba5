#pragma once

#include <tinymp/nn/layers.h>
#include <tinymp/nn/linear.h>
#include <tinymp/nn/norm.h>
#include <tinymp/nn/staged.h>
#include <string>
#include <vector>

namespace tinymp::nn {

/// The sizes of a transformer.
struct TransformerSizes {
  std::int64_t words = 0;    ///< V: the tokens that it knows
  std::int64_t context = 0;  ///< P: the longest text that it reads
  std::int64_t layers = 2;   ///< N: blocks
  std::int64_t width = 64;   ///< W, which the heads share
  std::int64_t heads = 4;    ///< H
  float dropout = 0;  ///< of the embedded tokens, of the probabilities of attention and of what a block adds
  /// C. Above 0, an encoder names one of C classes for each token that is asked for, and no words. The first token of a
  /// text stands for the text (Devlin et al. 2019, section 4.1).
  std::int64_t classes = 0;
};

/// The inner part of a transformer: attention, then two linear layers with GELU between them, each added to what it was
/// given. Norms stand before the two parts (GPT-2: Radford et al. 2019, section 2.3) or behind each sum (Vaswani et al.
/// 2017, section 3.1, as in BERT).
struct TransformerBlock {
  bool norms_first, causal;
  std::int64_t heads;
  LayerNorm norm1;
  Linear query, key, value, out;
  LayerNorm norm2;
  Linear first, second;  ///< (W,4W), (4W,W)
  Dropout of_attention, of_out, of_second;

  TransformerBlock(bool is_decoder, const TransformerSizes& sizes, std::uint64_t number, const Recipe& recipe,
                   Rng& rng);

  /// (B T,W) of (B T,W): B texts of `steps` tokens.
  Tensor operator()(const Tensor& x, const Texts& texts) const;
  /// "block 1": "block 1 norm1 gamma", ..., "block 1 second bias"
  std::vector<Parameter> parameters(const std::string& block) const;

 private:
  Tensor attend(const Tensor& x, const Texts& texts) const;
};

/// A transformer that names tokens: an embedding table with learned positions, N blocks, and as output the embedding table
/// again (Press and Wolf 2017, arXiv 1608.05859).
///
/// A decoder has the shape of GPT-2: a token sees the tokens before it; norms stand first, and one behind the last
/// block; the layers that add to the sum begin smaller, by sqrt(2 N).
/// An encoder has the shape of BERT (Devlin et al. 2019, arXiv 1810.04805, section 3 and appendix A): a token sees all;
/// norms stand behind the sums, and one behind the positions; before the output comes a layer of its own with GELU and a
/// norm, behind it a bias for each token. With classes the output is a layer with tanh (its pooler), dropout, and a linear
/// layer of its own. What BERT has and this has not: embeddings of the segments, 2 W values.
/// In both the tables begin uniform with standard deviation 0.02, and linear layers as everywhere here.
class Transformer : public StagedModel {
 public:
  enum class Kind : std::uint8_t { decoder, encoder };

  /// The same rng gives the same weights under every recipe, except for rounding. Throws Error for sizes below 1, for a
  /// width that the heads cannot share, and for classes of a decoder.
  Transformer(Kind kind, const TransformerSizes& sizes, const Recipe& recipe, Rng& rng);

  /// Throws Error for texts that are longer than the context.
  Tensor enter(const Texts& texts) const override;
  Tensor block(std::int64_t i, const Tensor& x, const Texts& texts) const override;
  Tensor leave(const Tensor& x, const Texts& texts) const override;
  Tensor operator()(const Tensor& images) const override;  ///< throws Error: it reads texts

  std::int64_t blocks() const override { return std::ssize(blocks_); }
  Part part(std::int64_t i) const override;  ///< its buffers: with dropout the steps of its layers
  Tensor shared() const override { return sizes_.classes > 0 ? Tensor() : table_; }
  /// The tied table, or that of the classes.
  std::string output_layer() const override { return sizes_.classes > 0 ? "out" : "embedding"; }
  /// "transformer decoder of 65 words, 2 layers of 64, 4 heads, context 64"
  std::string name() const override;
  const TransformerSizes& sizes() const { return sizes_; }

 private:
  bool is_encoder() const { return kind_ == Kind::encoder; }
  Tensor classes_of(const Tensor& x) const;

  Kind kind_;
  TransformerSizes sizes_;
  DType accumulate_;
  Tensor table_, positions_;  ///< (V,W) and (P,W), recipe.compute
  Dropout of_embedding_;
  std::vector<TransformerBlock> blocks_;
  LayerNorm norm_;                 ///< of a decoder behind the blocks, of an encoder before them
  std::vector<Linear> transform_;  ///< of an encoder: one
  std::vector<LayerNorm> transform_norm_;
  Tensor bias_;  ///< (V), of an encoder that names words; 0 at first
  // An encoder with classes has these:
  Dropout of_pooled_;
  std::vector<Linear> out_;  ///< (W,C): one
};

}  // namespace tinymp::nn
