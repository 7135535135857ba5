#pragma once

#include <kernels/graph.h>
#include <tinymp/train/resident_data.h>
#include <tinymp/train/resident_texts.h>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tinymp::train {

/// Takes the steps of a run as one graph: the kernels of a step, from the gathering of its batch to the next S, are recorded
/// once and launched as a whole. The bits are those of start_step(). Such a step takes the norm of its gradients and
/// measures nothing else.
class GraphStep {
 public:
  /// All must outlive it. Copies the data set to the device of the plan. The plan has no loss of its own: that would need
  /// the labels on the CPU.
  GraphStep(const Plan& plan, const nn::Model& model, Optimizer& optimizer, LossScaler& scaler,
            const Float8Products& products, data::Loader& loader, const StepRecords& records);

  /// Starts step `number`, when `recorded` steps have been added to the records. The first runs kernel by kernel: it takes
  /// the memory that the graph keeps.
  PendingStep take(std::int64_t number, std::int64_t recorded);

  /// The kernels of a step in their order; empty before it is recorded.
  std::vector<std::string> nodes() const { return graph_ ? graph_->nodes() : std::vector<std::string>(); }

 private:
  PendingStep step(std::int64_t number);
  MicroBatches batches() const;

  const Plan& plan_;
  const nn::Model& model_;
  Optimizer& optimizer_;
  LossScaler& scaler_;
  const Float8Products& products_;
  data::Loader& loader_;
  const StepRecords& records_;
  std::optional<ResidentData> images_;
  std::optional<ResidentTexts> texts_;  ///< one of the two
  PrivatePool pool_;
  bool is_warm_ = false;
  std::optional<kernels::Graph> graph_;
};

}  // namespace tinymp::train
