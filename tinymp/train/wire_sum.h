#pragma once

#include <tinymp/dist/collectives.h>
#include <tinymp/dist/wire.h>
#include <tinymp/tensor/tensor.h>
#include <tinymp/train/accumulate.h>
#include <cstdint>
#include <span>
#include <vector>

/// A sum of gradients in 16 bits (dist/wire.h). Each rank first adds up those of its own micro-batches, as one process does.
/// Their sum is divided by the predivide factor, in FP32, and rounded once to the format of the wire; it is added to that of
/// the ranks before it there, and goes back to where backward leaves gradients. So what is left there is too small by the
/// factor: LossScaler::unscale() divides by that much less, in FP32 (mean_of()).
namespace tinymp::train {

class WireSum {
 public:
  /// `parameters`: all of a model, in the order in which their gradients lie in an optimizer.
  WireSum(const dist::Wire& wire, int ranks, std::vector<Tensor> parameters);

  /// What this rank adds, from the gradients that backward has left: one part for each parameter that has a gradient.
  std::vector<dist::Part> own() const;
  /// Where the sum of all ranks is to lie.
  Tensor empty_sum() const;
  /// Replaces the gradients of the parts by those of the sum.
  void put_back(std::span<const dist::Part> parts, const Tensor& sum) const;

  /// The number of micro-batches that the gradients are now the sum of: their number without the division before the sum.
  Accumulated mean_of(Accumulated sum) const;

  /// All ranks in this process, one after another: the same bits without a wire, for a search that takes steps again.
  Accumulated accumulate_all(std::span<const std::int64_t> sizes, LossScaler& scaler,
                             const BackwardOf& backward_of) const;

 private:
  dist::Wire wire_;
  int ranks_;
  double factor_;
  std::vector<Tensor> parameters_;
};

}  // namespace tinymp::train
