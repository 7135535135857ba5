#pragma once

#include <tinymp/train/first_bad.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/moment.h>
#include <tinymp/train/safetensors.h>
#include <string>
#include <vector>

/// A run on disk, as safetensors: all that it takes to go on with the same bits. Equal runs give equal files: no
/// time, path, host or command is in them.
///
/// The model's tensors have PyTorch's names and layouts (nn/torch_layout.h) and the formats of the recipe, with the
/// running averages of batch norm and num_batches_tracked, the steps taken. load_state_dict(strict=True) takes
/// them. All other names begin with "tinymp.":
///   tinymp.master.NAME              the master copy, when the recipe has one
///   tinymp.moment1.NAME, moment2    the optimizer's moments
///   tinymp.buffer.N                 other buffers: the steps of a dropout
///   tinymp.fp8.history, next, scale the delayed scales of tensors in FP8 (amp/tensor_scales.h), when the recipe has some
///   tinymp.past.weight.NAME, ...    the copy that FaultFinder searches from, while it searches
/// and "__metadata__" has these texts, all but the first and the last JSON:
///   tinymp.checkpoint   "1", the version
///   tinymp.plan         model, recipe, data, seed, optimizer, schedule ... : what must agree to go on
///   tinymp.run          steps over, taken and skipped, first step whose loss was not finite, lines of the log
///   tinymp.moment       steps and learning rate of the optimizer, S and its count, place in the data
///   tinymp.past         the same for the copy
///   tinymp.finder       what FaultFinder has reported
///   tinymp.sha256       the seal of all this (safetensors.h)
namespace tinymp::train {

/// A program refuses a version that it does not know.
inline constexpr int checkpoint_version = 1;

/// A run after moment.step steps.
struct Checkpoint {
  RunResult counts{};          ///< taken, skipped and first_nonfinite_step so far
  std::int64_t log_lines = 0;  ///< of the log so far, without its header
  Moment moment;
  FaultFinder::Memory finder{};
};

/// `optimizer` is the one of the run; its first learning rate, which the schedule begins with, is `lr`.
struct CheckpointOwner {
  const Plan& plan;
  const nn::Model& model;
  const Optimizer& optimizer;
  const Float8Products& products;
  float lr;
};

Safetensors contents_of(const Checkpoint& checkpoint, const CheckpointOwner& owner);
/// Throws Error naming `path` and the difference when the contents are of another version, or of a run whose
/// model, recipe, data, seed, optimizer, schedule or other numbers differ from the plan, and when a tensor is
/// missing, left over or of another shape or format.
Checkpoint checkpoint_from(const Safetensors& contents, const std::string& path,
                           const CheckpointOwner& owner);

/// The step after which the checkpoint at `path` was written. Throws Error when it is no checkpoint.
std::int64_t step_of_checkpoint(const std::string& path);

/// What load_weights() did, a line for each tensor: "0.weight (64, 784)".
struct LoadedWeights {
  std::vector<std::string> taken;
  std::vector<std::string> left;     ///< tensors of the file that fit no tensor of the model, with the reason
  std::vector<std::string> missing;  ///< tensors of the model that keep their values
};
/// Fine-tuning: gives `model` the weights and running averages of a checkpoint, or of any safetensors file with
/// PyTorch's names, that fit by name and shape; the masters where there are some. Values are rounded to the
/// model's formats. Throws Error when the file cannot be read, nothing in it fits, or an optimizer owns the model.
LoadedWeights load_weights(const std::string& path, const nn::Model& model);

/// Writes the weights of a model without buffers, and nothing else, in their formats under PyTorch's names: for a
/// model that no Plan trains, as lesson 11's. load_state_dict(strict=True) takes them: an LSTM of PyTorch adds two
/// biases, so beside ours, bias_ih_l0, lies a bias_hh_l0 of zeros, and a seal. Throws Error when the file
/// cannot be written; an older one is then as it was.
void save_weights(const std::string& path, const nn::Module& model);

/// The first 16 hexadecimal digits of SHA-256 over the masters (the weights where there are no masters), as a
/// checkpoint stores them: PyTorch's layouts, little-endian, one after another in order of PyTorch's names.
std::string weights_hash(const nn::Model& model, const Optimizer& optimizer);

}  // namespace tinymp::train
