#pragma once

#include <tinymp/nn/module.h>
#include <vector>

namespace tinymp::nn {

/// A model of texts in parts that run one after another, so that they can lie in several processes (train/pipeline.h): what
/// comes before its blocks, the blocks, and what comes behind them. (B T,W) goes from part to part.
class StagedModel : public Model {
 public:
  virtual Tensor enter(const Texts& texts) const = 0;
  virtual Tensor block(std::int64_t i, const Tensor& x, const Texts& texts) const = 0;
  virtual Tensor leave(const Tensor& x, const Texts& texts) const = 0;  ///< what read() returns

  struct Part {
    std::vector<Parameter> parameters{};
    std::vector<Tensor> buffers{};
  };
  /// Part 0 enters, parts 1 to blocks() are the blocks, part blocks() + 1 leaves.
  virtual Part part(std::int64_t i) const = 0;
  /// The parameter of part 0 that leave() reads, too; empty: there is none.
  virtual Tensor shared() const = 0;

  Tensor read(const Texts& texts) const override;
  std::vector<Parameter> parameters() const override;  ///< of the parts, one after another
  std::vector<Tensor> buffers() const override;
};

}  // namespace tinymp::nn
