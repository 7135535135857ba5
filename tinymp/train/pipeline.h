#pragma once

#include <tinymp/dist/waits.h>
#include <tinymp/train/stage.h>
#include <tinymp/train/step.h>
#include <cstdint>
#include <memory>
#include <vector>

/// A model whose blocks lie in several processes (stage.h). The micro-batches of a step go through the ranks one behind the
/// other: GPipe, Huang et al. 2019 (arXiv 1811.06965), section 2.
///
///   rank 0   F0 F1 F2 F3 .  .  B0 B1 B2 B3        forward of all, then backward of all. The ranks wait in between: with
///   rank 1      F0 F1 F2 F3 B0 B1 B2 B3           parts that take equally long (P - 1)/(M + P - 1) of the time.
///
/// A step has the bits of accumulate() in one process:
/// - backward takes the micro-batches in their order, so that gradients add up in this order; GPipe takes the last one first;
/// - the gradients that the output has for the shared table go to the first rank, which adds each of them before that of the input
///   of the same micro-batch, as a tape does; the last rank gets the new values of the table after each step;
/// - norms are added in the order of the parameters (optim/split_norm.h), and all ranks decide together whether to take the step;
/// - a dropout belongs to one rank, and counts its own micro-batches.
///
/// Between steps a rank holds weights, gradients, masters and moments of its own part alone, and in a step its activations, of all M
/// micro-batches. At the beginning each rank makes the whole model and its optimizer for a moment, and when a run is saved the
/// first rank gathers both.
namespace tinymp::train {

struct TrainedParts;

/// Throws UsageError for a plan that a pipeline cannot run: images, FP8 products or stochastic rounding, a graph or another device
/// than the CPU, and what needs the whole model: a shadow, histograms, a limit of memory.
void expect_pipelined(const Plan& plan);

class Pipeline {
 public:
  /// Keeps this rank's part of the model and of the optimizer, and frees the others. Throws UsageError where Stage does.
  Pipeline(const Plan& plan, TrainedParts& parts);
  ~Pipeline();
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  // All ranks call these together.

  /// Takes a step. Throws LostRank.
  PendingStep step(std::int64_t number, const MicroBatches& batches, const StepRecords& records);
  /// The whole run after `step` steps, on the first rank; the others return nothing.
  std::unique_ptr<TrainedParts> whole(std::int64_t step);
  /// For the other ranks, where the first one measures its model on texts.
  void measure(const data::TextExamples& texts) const;

  /// True when a rank was asked to stop before the last step.
  bool stops() const { return stops_; }
  /// By rank: the share of forward and backward that it spent waiting for others, in the steps so far but the first.
  std::vector<double> waited() const;

 private:
  struct Times {
    double waited = 0, all = 0;  ///< seconds
  };
  struct Agreed;
  struct MicroBatch;

  std::vector<float> forward(const MicroBatches& batches);
  void backward();
  void take_shared(const Tensor& gradient) const;
  Agreed agree(const Gradients& gradients, const UnscaleResult& check, const std::vector<float>& losses);
  void add_updates(const DeviceValue<kernels::StepOutcome>& outcome);
  void hand_on_shared();

  const Plan& plan_;
  TrainedParts& parts_;
  dist::WatchedRanks ranks_;
  const Stage* stage_;
  std::vector<std::shared_ptr<MicroBatch>> running_;  ///< between forward and backward
  std::int64_t steps_ = 0;                            ///< taken here
  Times own_{};
  std::vector<Times> times_;  ///< by rank
  bool stops_ = false;
};

/// Trains as a rank besides the first of a pipeline, from the state after `step` steps.
void take_part_in_pipeline(const Plan& plan, TrainedParts& parts, std::int64_t step);

}  // namespace tinymp::train
