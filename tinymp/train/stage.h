#pragma once

#include <tinymp/dist/tensors.h>
#include <tinymp/nn/staged.h>
#include <tinymp/optim/split_norm.h>
#include <memory>
#include <string>
#include <vector>

/// The part of a model that a rank of a pipeline has.
namespace tinymp::train {

/// What goes between two ranks, for TensorLinks.
enum Message : int { activations_message, gradient_message, shared_message, values_message, answer_message };

/// Rank r of P has the r-th of P equal parts of the blocks, give or take a block; the first also has what comes before the blocks,
/// the last what comes behind them. Of all else the ranks keep shapes and no values, on Device::meta. A parameter that the first
/// part and the last share is the first rank's: the last has a copy of its values.
class Stage final : public nn::Model {
 public:
  /// Frees the values of the other parts; no optimizer owns the model. Throws UsageError for a model that is no
  /// nn::StagedModel, or has fewer blocks than there are ranks. The ranks must outlive it.
  Stage(std::unique_ptr<nn::Model> model, dist::Transport& ranks);

  bool is_first() const { return rank_ == 0; }
  bool is_last() const { return rank_ == count_ - 1; }

  /// The own part. The first rank takes no x.
  Tensor run(const Tensor& x, const Texts& texts) const;
  /// Forward through all ranks, which call it together, without a tape. The answer is that of the last rank, which the first
  /// one has, too; the others return an empty tensor.
  Tensor read(const Texts& texts) const override;
  Tensor operator()(const Tensor& images) const override;  ///< throws Error: it reads texts

  std::vector<Tensor> own_parameters() const;
  std::vector<Tensor> own_buffers() const;
  /// The place of the parameters of a rank among those of the model.
  const std::vector<ElementRange>& elements() const { return elements_; }
  ElementRange own_elements() const { return elements_[static_cast<std::size_t>(rank_)]; }
  /// By rank: the number of buffers that each has. They are consecutive ones of the model.
  std::vector<std::int64_t> buffer_counts() const;
  /// The shared parameter where it lies in two ranks and this is one of them; else empty.
  Tensor shared() const;
  dist::TensorLinks& links() const { return links_; }

  // Those of the whole model.
  std::int64_t blocks() const override { return parts_->blocks(); }
  std::vector<nn::Parameter> parameters() const override { return parts_->parameters(); }
  std::vector<Tensor> buffers() const override { return parts_->buffers(); }
  std::string output_layer() const override { return parts_->output_layer(); }
  std::string name() const override { return parts_->name(); }

 private:
  struct Range {
    std::int64_t begin, end;
  };
  Range blocks_of(int rank) const;
  Range parts_of(int rank) const;

  std::unique_ptr<nn::Model> model_;
  const nn::StagedModel* parts_;  ///< the same
  int rank_, count_;
  std::vector<ElementRange> elements_;
  mutable dist::TensorLinks links_;
};

}  // namespace tinymp::train
