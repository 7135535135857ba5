#pragma once

#include <tinymp/train/checkpoint.h>
#include <optional>
#include <string>

/// Beginning a run, or going on with one, and saving it on the way. The newest checkpoint of a run is
/// checkpoint.safetensors in the folder of its log, the kept ones are checkpoint-STEP.safetensors.
///
/// A checkpoint is saved when the log has all lines up to its step. A program that is killed between the two, or at any
/// other moment, leaves a log that is at least as long as the newest checkpoint needs; going on cuts the rest.
namespace tinymp::train {

/// The newest checkpoint in the folder of a run, else the newest copy that --keep left there; empty when there is none.
std::string checkpoint_in(const std::string& folder);

/// The path of the newest checkpoint of a run with this log, and of the one kept after `step`.
std::string checkpoint_beside(const std::string& log_path);
std::string checkpoint_beside(const std::string& log_path, std::int64_t step);

/// Where a run begins.
struct RunStart {
  Run recorded;                                 ///< the header, and what was logged before
  std::optional<RunLog> log{};                  ///< empty: the run is finished already, nothing is left to do
  std::int64_t step = 0;                        ///< the steps that are over
  RunResult counts{};                           ///< taken, skipped and first_nonfinite_step so far
  std::optional<FaultFinder::Memory> finder{};  ///< of a run that goes on
};

/// Without plan.resume: makes the log. With it: puts model, optimizer, scalers and loader back to the checkpoint and
/// cuts the log; a run that was interrupted before its first checkpoint begins anew. Throws Error when
/// there is no such run, log or checkpoint do not belong to this plan, or one of them is damaged; then nothing
/// changes on disk.
RunStart begin_run(const Plan& plan, const std::string& log_path, const nn::Model& model,
                   Optimizer& optimizer, LossScaler& scaler, const Float8Products& products,
                   data::Loader& loader);

/// Gives all ranks of plan.ranks what begin_run() gave rank 0, where `step` steps are over. Returns that step. Throws
/// Error naming the rank whose plan, data or first weights are others than those of rank 0.
std::int64_t begin_alike(const Plan& plan, std::int64_t step, const nn::Model& model, Optimizer& optimizer,
                         LossScaler& scaler, const Float8Products& products, data::Loader& loader);

/// Saves the checkpoint of a run, and with plan.keep a copy that stays. Removes the oldest copies. `lr` is the rate
/// that the schedule begins with.
void save_run(const std::string& log_path, const CheckpointOwner& owner, const Checkpoint& checkpoint);

}  // namespace tinymp::train
