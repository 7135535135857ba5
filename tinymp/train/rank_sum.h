#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/tape.h>
#include <tinymp/dist/collectives.h>
#include <tinymp/nn/averages.h>
#include <tinymp/train/accumulate.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/wire_sum.h>
#include <tinymp/train/zero.h>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

/// The gradients of a step whose micro-batches are shared by several processes. What comes out has the bits of accumulate()
/// in one process:
/// - each gradient that backward hands to a parameter travels as it is, and they are added in the order of the micro-batches;
/// - the averages of batch norm follow the batches of all micro-batches, in their order;
/// - a dropout counts the micro-batches of all, and draws the masks of its own.
namespace tinymp::train {

/// Throws UsageError for a plan whose steps cannot be shared: its micro-batches are no multiple of the ranks, or it asks for
/// FP8 products, a graph or another device than the CPU.
void expect_shareable(const Plan& plan);

/// A number that tells bytes from others: FNV-1a, a word of 8 bytes at a time.
std::uint64_t mark_of(std::span<const std::byte> bytes, std::uint64_t before = 0xcbf29ce484222325);

class RankSum {
 public:
  /// All must outlive it. The optimizer is that of the model; the plan names the ranks. `shards`: of Plan::zero, else null.
  RankSum(const Plan& plan, const nn::Model& model, const Optimizer& optimizer,
          const RankShards* shards = nullptr);

  /// Forward and backward of micro-batch i under a tape with this seed and observer. Returns its loss.
  using BackwardOf = std::function<Tensor(std::int64_t i, const Tensor& seed, Observer* observer)>;

  /// Runs the micro-batches of this rank and leaves the gradients of all ranks, added up, where backward would; all ranks call
  /// it in each step. `observer` sees the ops of this rank; null: none. With shards a rank has the gradients of its own range
  /// alone, but in steps whose gradients the plan wants measured: they are whole. Throws LostRank, and Error where a rank has other
  /// weights than the others: they are compared every Plan::compare_every steps.
  Accumulated accumulate(std::int64_t step, LossScaler& scaler, Observer* observer,
                         const BackwardOf& backward_of);

  /// Changes what this rank has found to what Plan::found_inf decides by.
  void decide(UnscaleResult& check) const;

  /// True when a rank was asked to stop (Plan::stop) before this step: no rank takes another one.
  bool stops() const { return stops_; }

  /// Gradients travel in buckets of so many bytes at least.
  static constexpr std::size_t bucket_bytes = 1 << 16;

 private:
  /// Returns the losses of all micro-batches, from those of this rank.
  std::vector<float> agree(std::int64_t step, const std::vector<float>& losses,
                           std::span<const dist::Part> parts);
  std::vector<dist::Owned> owned() const;
  void add_up(std::int64_t step, dist::ReduceScatter& sum, std::span<const dist::Part> parts) const;
  std::uint64_t mark_of_weights() const;
  void sum_on_wire(std::span<const dist::Part> parts) const;
  void stage_moves(const std::vector<nn::AveragesMove>& own) const;
  void count_dropouts(std::int64_t micro_batches) const;

  const Plan& plan_;
  dist::Transport& ranks_;
  const Optimizer& optimizer_;
  const RankShards* shards_;
  std::vector<Tensor> parameters_;
  std::vector<Tensor> dropouts_;  ///< the counts of forward passes that choose their masks
  WireSum wire_;
  std::int64_t own_nonfinite_ = 0;  ///< of this rank's gradients, before they were added to others
  bool stops_ = false;
};

}  // namespace tinymp::train
