#pragma once

#include <tinymp/train/loop.h>
#include <tinymp/train/memory_ledger.h>
#include <functional>
#include <vector>

/// How much memory a training takes, before it takes any. A dry run makes the plan's model, optimizer and scaler on
/// Device::meta, and takes two steps there: the same code runs, autocast, tape, FP8 and optimizer alike, and each tensor
/// counts by its shape. So the bytes are those of a real step, to the byte, without the scratch of kernels
/// (RunResult::peak_without_scratch, MemoryBytes). The second step counts, too, because some cells are made in the first
/// and stay.
///
///   const MemoryUse use = train::dry_run(plan, train::blank({.pixels = 784}));
///   use.peak; use.most[MemoryKind::activations]; describe(use.heaviest)
///
/// What only measures, a shadow or histograms, takes no part in it, for it does not count in a run either. What lies on the
/// CPU beside a GPU does not count. A model or a loss that reads values (Tensor::item) reads zeros. A step that is skipped
/// takes the same bytes. Of a plan with Plan::graph these are the steps that it takes without the graph, the first among them.
namespace tinymp::train {

/// The shape of a batch: images, or texts.
struct BatchShape {
  std::int64_t pixels = 0;  ///< values of an image: 784
  std::int64_t steps = 0;   ///< tokens of a text
  std::int64_t asked = 0;   ///< tokens of a text that the model is asked for, its first ones; 0: all
};

/// Makes a batch of so many images or texts on a device. Its values do not matter.
using BatchMaker = std::function<data::Batch(std::int64_t count, Device device)>;
/// The most images or texts in a batch: 2^24, and not more texts than 2^31 - 1 tokens make, for no more can be told apart, or
/// 2^24 labels.
std::int64_t most_in_batch(const BatchShape& shape);

/// Black images of class 0, or texts of token 0. Tensors on Device::meta take no memory; labels take 4 bytes each, there too.
/// The maker throws Error for more than most_in_batch().
BatchMaker blank(const BatchShape& shape);

/// The batches of a plan with data or a text.
BatchShape batch_shape_of(const Plan& plan);

/// An op, and what it has of the activations at a moment.
struct KeptBytes {
  /// "linear"; "linear, again" of one that recomputes; "linear, backward"; "the batch"; "the steps before"
  std::string op{};
  Shape shape{};             ///< of its output
  DType dtype = DType::f32;  ///< of its output
  std::int64_t bytes = 0;    ///< all of them together
  std::int64_t times = 0;    ///< calls in a step that keep something
};

struct MemoryUse {
  std::int64_t peak = 0;   ///< the most bytes at once
  MemoryMoment most{};     ///< the most bytes of each kind; these need not come at once
  MemoryMoment at_peak{};  ///< the bytes of each kind when the sum is largest
  StepPart heaviest{};     ///< what runs then
  std::vector<KeptBytes>
      kept{};  ///< all activations when they are most in the second step: the largest first
  std::vector<StepPart> parts{};  ///< of the second step, in their order
};

/// The bytes of the plan's steps at its batch size. The device of the plan, its limit, its data and its text are not asked
/// for. Throws Error where a step does.
MemoryUse dry_run(const Plan& plan, const BatchMaker& batch, Saved saved = Saved::lean);

/// The same of steps that are taken on the plan's device: what a dry run is held against.
MemoryUse measured_steps(const Plan& plan, const BatchMaker& batch);

/// Throws MemoryLimitError when the plan has a limit and its steps take more; it says how much, and of what.
void expect_fits(const Plan& plan);

/// The largest batch whose steps take at most `budget` bytes; 0 where one image or text does not fit. It is most_in_batch()
/// where that fits.
std::int64_t largest_batch(const Plan& plan, const BatchShape& shape, std::int64_t budget,
                           Saved saved = Saved::lean);

}  // namespace tinymp::train
