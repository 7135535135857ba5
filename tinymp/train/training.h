#pragma once

#include <tinymp/train/first_bad.h>
#include <tinymp/train/graph_step.h>
#include <tinymp/train/memory.h>
#include <tinymp/train/pending_steps.h>
#include <tinymp/train/pipeline.h>
#include <tinymp/train/rank_sum.h>
#include <tinymp/train/run_curves.h>
#include <tinymp/train/run_state.h>
#include <tinymp/train/zero.h>
#include <memory>
#include <optional>
#include <string>

/// A run under way. train::run (loop.h) makes the parts and begins the log; a Training takes the steps.
namespace tinymp::train {

/// What a run trains with, from its plan and seed.
struct TrainedParts {
  explicit TrainedParts(const Plan& plan);  ///< which must outlive them
  RunningParts running() const { return {*model, *optimizer, scaler, products, loader}; }
  /// Plan::zero: once all ranks have begun alike.
  void share();

  const Plan& plan;
  std::unique_ptr<nn::Model> model;
  std::unique_ptr<Optimizer> optimizer;
  Schedule schedule;
  LossScaler scaler;
  Float8Products products;
  data::Loader loader;
  std::optional<Shadow> shadow{};              ///< the FP32 model, where the plan compares with it
  std::shared_ptr<const RankShards> shards{};  ///< of Plan::zero
  std::unique_ptr<Pipeline> pipeline{};        ///< where other ranks have parts of model and optimizer
  std::unique_ptr<TrainedParts> whole{};       ///< of a pipeline, on the first rank, after the last step
};

/// True at the steps that the log has.
bool is_logged(const Plan& plan, std::int64_t t);

class Training {
 public:
  /// `begun` has a log. All must outlive the training.
  Training(const Plan& plan, const std::string& path, const StepCallback& on_step, TrainedParts& parts,
           RunStart& begun);

  /// Takes the steps that are left. False when the plan's `stop` ended them before the last one; then the run is saved.
  bool take_steps();
  /// After the last step: saves what the plan wants saved, measures the model on the test data and ends the log.
  void finish();

 private:
  StepMeters meters_of(std::int64_t t, bool logged);
  PendingStep start(std::int64_t t, const StepMeters& meters);
  /// Reads a step back and writes down what became of it.
  void enter(const DoneStep& done, bool logged);
  void save(std::int64_t t);
  void end_ranks();
  void save_whole(const TrainedParts& whole, std::int64_t t);
  void finish_pipeline();
  double measured() const;

  const Plan& plan_;
  const std::string& path_;
  const StepCallback& on_step_;
  TrainedParts& parts_;
  RunStart& begun_;
  const RunningParts running_;
  FaultFinder finder_;
  RunResult result_;
  RunCurves curves_;
  const MemoryMeter memory_;
  PendingSteps pending_;
  std::optional<GraphStep> graph_{};
  std::optional<RankSum> ranks_{};
};

}  // namespace tinymp::train
