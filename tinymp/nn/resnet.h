#pragma once

#include <tinymp/nn/layers.h>
#include <tinymp/nn/module.h>
#include <tinymp/nn/norm.h>

namespace tinymp::nn {

/// The residual networks for small images of He et al. 2015 (arXiv 1512.03385), section 4.2. They have a 3x3
/// convolution to 16 channels, three stages of n blocks with 16, 32 and 64 channels, the mean over all
/// pixels, and the logits: 6 n + 2 layers with weights. Each stage but the first halves the resolution. A
/// block is relu(x + norm(conv(relu(norm(conv(x)))))). When a block changes the shape, x is subsampled and
/// gets zero channels (shortcut A). n = 3 is ResNet-20. The statistics of batch norm are FP32 under every
/// recipe, unless `norms` sets another format.
class ResNet : public Model {
 public:
  struct Images {
    std::int64_t size = 28;     ///< pixels, down and across
    std::int64_t channels = 1;  ///< 1 grey, 3 colour
  };

  ResNet(int blocks_of_a_stage, const Images& images, const Recipe& recipe, Rng& rng,
         BatchNormOptions norms = {});
  /// (B, size size channels) or (B,size,size,channels) -> (B,10) logits
  Tensor operator()(const Tensor& images) const override;
  std::int64_t blocks() const override { return std::ssize(blocks_) + 1; }  ///< the first layer is one
  /// "in weight", "in gamma", "block 9 second beta", "out bias": the blocks of all stages, counted through
  std::vector<Parameter> parameters() const override;
  std::vector<Tensor> buffers() const override;
  std::string name() const override;  ///< "resnet20"

 private:
  /// norm(conv(x)). The convolution has no bias, because the norm would subtract it with the mean.
  struct Layer {
    Layer(std::int64_t inputs, std::int64_t outputs, std::int64_t stride, const Recipe& recipe, Rng& rng,
          BatchNormOptions norms);
    Tensor operator()(const Tensor& x) const { return norm(conv(x)); }
    std::vector<Parameter> parameters(const std::string& layer) const;
    Conv2d conv;
    BatchNorm norm;
  };
  struct Block {
    Block(std::int64_t inputs, std::int64_t outputs, std::int64_t stride, const Recipe& recipe, Rng& rng,
          BatchNormOptions norms);
    Tensor operator()(const Tensor& x) const;
    Layer first, second;
  };
  static std::vector<Block> make_blocks(int of_a_stage, const Recipe& recipe, Rng& rng,
                                        BatchNormOptions norms);
  std::vector<const Layer*> layers() const;

  Images images_;
  Layer in_;
  std::vector<Block> blocks_;
  Linear out_;
};

}  // namespace tinymp::nn
