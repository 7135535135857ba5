#pragma once

#include <tinymp/amp/float8_products.h>
#include <tinymp/data/text.h>
#include <tinymp/dist/wire.h>
#include <tinymp/nn/segments.h>
#include <tinymp/optim/optimizer.h>
#include <tinymp/optim/schedule.h>
#include <tinymp/train/run_log.h>
#include <tinymp/train/task.h>
#include <functional>
#include <memory>
#include <optional>
#include <span>

namespace tinymp::dist {
class Transport;  // dist/transport.h
}

/// One training run, from a plan to a log on disk. Lesson 01 spells the loop out without the meters. Lesson
/// 11 has a loop for an LSTM, the clinic one that runs wrong steps as they are written.
namespace tinymp::train {

using ModelMaker = std::function<std::unique_ptr<nn::Model>(const Recipe&, Rng&)>;
using OptimizerMaker = std::function<std::unique_ptr<Optimizer>(std::vector<Tensor>, const Recipe&)>;
using Loss = std::function<Tensor(const Tensor& y, std::span<const std::int32_t> labels)>;

/// For Plan::model: T(widths, recipe, rng, more...).
template <class T, class... More>
ModelMaker model_of(std::vector<std::int64_t> widths, More... more) {
  return [=](const Recipe& recipe, Rng& rng) { return std::make_unique<T>(widths, recipe, rng, more...); };
}
/// For Plan::optimizer: T(parameters, options, recipe).
template <class T>
OptimizerMaker optimizer_of(typename T::Options options) {
  return [options](std::vector<Tensor> parameters, const Recipe& recipe) {
    return std::make_unique<T>(std::move(parameters), options, recipe);
  };
}

/// The text of a run, and what a model is to tell of it.
struct TextPlan {
  const data::Text* text = nullptr;
  data::TextAim aim = data::TextAim::next_token;
  std::int64_t context = 64;  ///< tokens of a text that a model reads

  data::TextExamples training() const { return of(text->train); }
  data::TextExamples validation() const { return of(text->validation); }

 private:
  data::TextExamples of(const std::vector<std::int32_t>& tokens) const {
    return {std::span<const std::int32_t>(tokens), std::ssize(text->vocabulary), aim, context};
  }
};
/// "text (1003854 train, 111540 validation tokens, vocabulary 66), the next token, texts of 64"
std::string describe(const TextPlan& text);

/// The infinities that make ranks skip a step. A run has `of_sum`; the others are for a chapter that shows them.
enum class FoundInf : std::uint8_t {
  of_sum,   ///< those of the gradients that all ranks have added up: each decides alike
  own,      ///< a fault: those of a rank's own gradients, before they are added; the ranks drift apart
  largest,  ///< those, agreed by maximum: what one rank finds, all have found; and those of the sum
};

/// Everything that determines the bits of a run. Two plans that differ in `recipe` alone train the same model
/// from the same first weights on the same batches.
struct Plan {
  std::string lesson{};    ///< "06_loss_scaling"
  std::string question{};  ///< "Do small gradients survive?"
  std::string name{};      ///< "FP16, S = 1"
  std::string command{};   ///< the command that repeats the run, for the log: "./learn run 6 --seeds 3"
  Recipe recipe{};
  std::uint64_t seed = 0;

  const data::Split* data = nullptr;
  data::LoaderOptions pixels{};
  std::optional<TextPlan> text{};  ///< in place of `data`, for a model of texts
  Task task = Task::classify;
  Loss
      loss{};  ///< an FP32 scalar from the model's output; empty: the loss of the task. Not with a shadow or a text
  ModelMaker model{};
  OptimizerMaker optimizer{};
  std::string optimizer_name{};                    ///< "adam lr=0.01"
  ScheduleKind schedule = ScheduleKind::constant;  ///< the schedule of the learning rate
  std::int64_t warmup = 0;                         ///< the rate climbs in the first `warmup` steps
  const nn::Model* start = nullptr;                ///< fine-tuning: begin with these weights
  Device device = Device::cpu;                     ///< where the model trains
  /// On Device::cuda: record a step as a graph and launch that, with the data set on the device. No bit changes.
  bool graph = false;
  /// The segments of the model that run again in backward, so that their activations need not be kept. No bit changes; a
  /// run may go on with others.
  nn::Segments recompute{};
  std::int64_t steps = 1000;
  std::int64_t batch = 64;  ///< images, or texts, that go forward and backward at once
  /// A step adds up the gradients of so many batches, and takes their mean.
  std::int64_t micro_batches = 1;
  /// The processes that share the micro-batches of a step: rank r takes the r-th of as many equal parts of them. No bit
  /// changes. Null: this process takes all. Rank 0 alone writes the log and the checkpoints.
  dist::Transport* ranks = nullptr;
  /// 1: ZeRO stage 1: each rank keeps and updates its part of masters and moments (optim/shards.h). No bit changes; a run may
  /// go on with or without. Checkpoints are whole: rank 0 collects them. In an FP32 recipe, whose masters are the weights
  /// themselves, the moments alone are shared. While the run has found no fault, rank 0 keeps the whole copy that first_bad.h
  /// searches from. 0: all ranks keep all.
  int zero = 0;
  /// The ranks share the blocks of the model instead (pipeline.h): each takes all micro-batches. No bit changes.
  bool pipeline = false;
  /// How their gradients travel. In 16 bits the sum is rounded: then the number of ranks decides the bits, too.
  dist::Wire wire{};
  /// The ranks compare their weights after every so many steps.
  std::int64_t compare_every = 50;
  FoundInf found_inf = FoundInf::of_sum;
  /// Bytes that a step may take, without the scratch of kernels; 0: no limit. Not with a graph.
  std::int64_t memory_limit = 0;
  float clip = 0;               ///< largest norm of the unscaled gradients; 0: no clipping
  std::int64_t log_every = 10;  ///< log every so many steps, and the first and last
  /// Count flushed gradients with an FP32 shadow every so many steps; 0: never.
  std::int64_t shadow_every = 0;
  /// Measure the loss and the metric on the first 1,000 images of data->validation, or about 8,192 tokens, every so many
  /// steps, in the first and in the last; 0: never. Each time costs their forward pass.
  std::int64_t validate_every = 0;
  /// Count the sizes of gradients and updates every so many steps, and in the first step; 0: never.
  std::int64_t histogram_every = 0;

  // What it takes to go on after an interruption: run_state.h. The checkpoint lies beside the log.
  bool saves = false;           ///< save a checkpoint at the end and after a stop
  std::int64_t save_every = 0;  ///< save one every so many steps, too; 0: never
  std::int64_t keep = 0;        ///< keep the last so many of them besides the newest
  std::string resume{};         ///< the folder of a run, or a checkpoint in it: go on from there, in its log
  /// Asked after each step. True ends the run there, without a result; with `resume` it goes on.
  std::function<bool()> stop{};
};

/// The learning rate of every step, for an optimizer that begins with `lr`.
inline Schedule schedule_of(const Plan& plan, float lr) {
  return {.kind = plan.schedule, .lr = lr, .steps = plan.steps, .warmup = plan.warmup};
}

/// What the log says of a run before its first step. A plan without data or text leaves RunHeader::data empty.
RunHeader header_of(const Plan& plan, const nn::Module& model);

/// The model under `recipe` with the first weights of the plan's seed, on the plan's device.
std::unique_ptr<nn::Model> make_model(const Plan& plan, const Recipe& recipe);
/// The plan's optimizer of the model, with the random words of the plan's seed.
std::unique_ptr<Optimizer> make_optimizer(const Plan& plan, const nn::Model& model);
/// The plan's products in FP8, with the random words of the plan's seed. The model is on the plan's device.
Float8Products make_products(const Plan& plan, const nn::Model& model);
/// The batches of the plan's seed, in their order.
data::Loader make_loader(const Plan& plan);

/// True at the first step and at every `every`-th; never when `every` is 0.
constexpr bool is_due(std::int64_t step, std::int64_t every) {
  return every > 0 && (step == 1 || step % every == 0);
}

/// Called after each step, in order, for a progress bar.
using StepCallback = std::function<void(const Plan&, const LogRecord&)>;

/// Trains, writes the log to `path` on the way, and measures the result on the test set. A run that produces
/// NaN goes on to its end, because that is a result. `keep`, when given, receives the trained model.
/// A run with plan.resume ends with the same bits as one that was never stopped, and so does its log but for the date,
/// the bytes, which are measured since the resumption, and the seconds. These go on from the last step that the log
/// has: neither the pause nor the steps that are taken a second time count twice. Throws Error when plan.resume names a
/// checkpoint of another run, or a damaged one; then nothing changes on disk.
/// With plan.ranks each of them calls it. Those besides rank 0 write nothing, and return a Run without a result; of a pipeline
/// they leave `keep` as it is. Throws
/// dist::LostRank when another rank has ended, hangs or has failed; the last checkpoint is then whole.
Run run(const Plan& plan, const std::string& path, const StepCallback& on_step = {},
        std::unique_ptr<nn::Model>* keep = nullptr);

}  // namespace tinymp::train
