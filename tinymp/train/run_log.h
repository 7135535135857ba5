#pragma once

#include <tinymp/numeric/recipe.h>
#include <tinymp/train/histogram.h>
#include <bit>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// A training run on disk, one JSON object a line: a header, then a line for each logged step, then a result.
/// Each line is flushed as it is written, so an interrupted run keeps everything up to its last logged step.
/// NaN and infinities are the strings "nan", "inf" and "-inf". Values that were not measured are left out.
///   {"tinymp_run":1,"lesson":"06_loss_scaling","name":"FP16, S = 1","recipe":{...},"seed":0,...}
///   {"step":1,"loss":0.231,"scale":1.0,"skipped":false,"skips":0,"lr":0.01,"flushed":0.62}
/// A step with histograms (histogram.h) has a second line, with an object for each parameter:
///   {"sizes":{"step":1,"scale":1.0,"parameters":[{"name":"layer 1 weight",
///     "gradients":{"zeros":9,"nonfinite":0,"first":-31,"counts":[3,14,...],"largest":2e-06,"subnormal":120,
///                  "overflowed":0,"flushed":301},
///     "updates":{"zeros":0,"nonfinite":0,"first":2,"counts":[7,...],"underflowed":0,"absorbed":0}},...],
///     "fp8":[{"what":"errors","dtype":"e5m2","values":640,"flushed":12,"saturated":0},...]}}
///   {"finding":{"kind":"first bad","step":12,"sentence":"Step 12, ...","direction":"forward",...}}
///   {"result":{"value":0.0735,"taken":400,"skipped":0,"first_nonfinite_step":0,"seconds":11.2}}
namespace tinymp::train {

/// A NaN with bits of its own, as R has for a missing value: what was measured and is NaN has the others.
inline constexpr double not_measured = std::bit_cast<double>(std::uint64_t{0x7ff8'0000'0000'0a17});
inline bool is_measured(double value) {
  return std::bit_cast<std::uint64_t>(value) != std::bit_cast<std::uint64_t>(not_measured);
}

/// What was run, and on what machine. RunLog fills in the second half.
struct RunHeader {
  std::string lesson{};    ///< "06_loss_scaling", "quickstart", "train"
  std::string question{};  ///< the panel a curve belongs to: "Do small gradients survive?"
  std::string name{};      ///< the curve: "FP16, S = 1"
  Recipe recipe{};
  std::uint64_t seed = 0;
  std::string model{};      ///< "autoencoder 784-64-32-64-784 sigmoid"
  std::string data{};       ///< "mnist (55000 train, 5000 validation, 10000 test)"
  std::string optimizer{};  ///< "adam lr=0.01"
  std::int64_t steps = 0;
  std::int64_t batch = 0;          ///< of one forward and backward
  std::int64_t micro_batches = 1;  ///< a step adds up the gradients of so many
  std::string recompute{};  ///< the segments that run again in backward: "blocks", "sqrt", "6"; empty: none
  std::string metric{};     ///< the name of RunResult::value: "test accuracy (%)", "test MSE"
  bool higher_is_better = false;  ///< for the metric
  std::string command{};          ///< the command that repeats this run: "./learn run 6 --seeds 3"

  std::string date{};      ///< UTC, "2026-05-04T09:30:00Z"
  std::string commit{};    ///< "44ca0ca1f20b", with "+" when the tree had changes; "unknown" without git
  std::string compiler{};  ///< "g++ 12.2.0"
  std::string device{};    ///< the name of the CPU, or of the device that the caller put here
  int threads = 0;
  std::string pieces{};  ///< "half: YOURS | scaler: REFERENCE"; empty when no learner's code ran

  std::int64_t samples() const { return batch * micro_batches; }  ///< that a step sees
};
/// "64", or "32 x 8" of 8 micro-batches of 32: the batch x their number
std::string describe_batch(const RunHeader& header);

/// One logged step. Shares lie between 0 and 1. What the step did not measure is not_measured.
struct LogRecord {
  std::int64_t step = 0;   ///< 1 is the first
  double loss = 0;         ///< the unscaled loss of this batch
  double scale = 1;        ///< the S of this step
  bool skipped = false;    ///< a gradient was not finite and the optimizer did not move
  std::int64_t skips = 0;  ///< steps skipped so far, this one included
  // Shares of all gradients.
  double zero = not_measured;       ///< exactly zero
  double subnormal = not_measured;  ///< below the smallest normal number of their format
  // Share of the gradients that are not zero in an FP32 shadow of the same step.
  double flushed = not_measured;  ///< zero in this run
  // Shares of the updates that are not zero in FP32.
  double underflowed = not_measured;  ///< zero in the master's format
  double absorbed = not_measured;     ///< not zero in the master's format, but too small to change the weight
  double lr = not_measured;           ///< the learning rate of this step
  double grad_norm = not_measured;    ///< of all gradients, divided by the scale, before clipping
  double epoch = not_measured;        ///< passes over the training set so far
  double seconds = not_measured;      ///< of training so far, without those of measuring
  /// After this step, on the first images of the validation data (Plan::validate_every): the mean loss, and what
  /// RunHeader::metric measures on the test set.
  double validation_loss = not_measured, metric = not_measured;
};

/// Where the first infinity or NaN came from: first_bad.h. A run has at most one finding of
/// each kind, or two for "passing".
struct Finding {
  std::string kind{};  ///< "first bad", "passing" (the loss stayed finite), "scale below 1", "lost in FP8"
  std::int64_t step = 0;
  std::string direction{};  ///< "input", "forward", "backward", "update"; "" when nothing was found
  std::string where{};      ///< "layer 2", "after layer 2", "layer 2 weight"
  std::string op{};  ///< "linear"; for an update the optimizer, or "cast" when rounding the master broke it
  DType dtype = DType::f32;     ///< the format of the tensor
  std::string shape{};          ///< "(64, 10)"
  double value = not_measured;  ///< the first infinity or NaN of the tensor
  /// The range of the op's inputs; for a gradient, the range of the gradient that it was computed from.
  double low = 0, high = 0;
  std::string parameter{};  ///< the first one with a gradient that is not finite, if any
  std::string sentence{};   ///< the finding in words
};

/// The most bytes that each kind of tensor took while the run trained, measured. 0: none, or not measured.
struct MemoryBytes {
  std::int64_t weights = 0;      ///< parameters and buffers in the format of the recipe
  std::int64_t masters = 0;      ///< wider copies of the parameters
  std::int64_t optimizer = 0;    ///< moments, velocities, sums of squares; histories of delayed FP8 scales
  std::int64_t gradients = 0;    ///< of the parameters
  std::int64_t activations = 0;  ///< what the tape keeps for the backward pass
  std::int64_t workspace = 0;    ///< all else that has a shape; in older logs, scratch among it
  std::int64_t scratch = 0;      ///< what kernels took while they ran
  bool operator==(const MemoryBytes&) const = default;
};

struct RunResult {
  double value = not_measured;            ///< RunHeader::metric on the test set
  std::int64_t taken = 0, skipped = 0;    ///< optimizer steps
  std::int64_t first_nonfinite_step = 0;  ///< the first step whose loss was NaN or infinite; 0: none
  double seconds = 0;                     ///< wall time of training
  std::string weights{};        ///< weights_hash() of checkpoint.h, for a run that saves; else empty
  std::int64_t peak_bytes = 0;  ///< the most memory that the tensors took at once; 0: not measured
  /// The same without the scratch of kernels, as train::dry_run computes it; 0: not measured.
  std::int64_t peak_without_scratch = 0;
  MemoryBytes memory{};  ///< by kind; the peaks of two kinds need not come at once
};

/// The log of a run that stopped, open and locked: until this goes, no other program goes on with the run.
class HeldLog {
 public:
  /// Throws Error when there is no such log, it cannot be written, or another program is writing it.
  explicit HeldLog(std::string path);

 private:
  friend class RunLog;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  void lock() const;

  HeldLog(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Writes one run. Refuses to overwrite a file. Throws Error naming the path and the reason when the disk is
/// full or the folder read-only, at the line that did not fit. Nothing can be written after that.
class RunLog {
 public:
  /// Fills in date, commit, compiler, device and threads, and writes the header line.
  RunLog(std::string path, RunHeader header);
  /// Goes on after `step` with the log of a run that stopped: keeps its header and the first `lines` lines after it and
  /// cuts off the rest. The whole log of a finished run stays beside it, as PATH.finished, until the run has its result
  /// again. Throws Error, and changes nothing, when there are fewer lines or when they do not end at that step.
  RunLog(HeldLog log, std::int64_t lines, std::int64_t step);
  void write(const LogRecord& step);
  void write_sizes(const StepSizes& sizes);
  void note(const Finding& finding);             ///< between the steps
  void finish(const RunResult& result);          ///< the last line; closes the file
  void sync();                                   ///< waits until all lines are on the disk
  std::int64_t lines() const { return lines_; }  ///< so far, without the header
  const std::string& path() const { return log_.path_; }
  const RunHeader& header() const { return header_; }  ///< the header as written

 private:
  void write_line(std::string json);
  HeldLog log_;
  RunHeader header_;
  std::int64_t lines_ = 0;
};

/// True while a program writes the log at `path`: a RunLog holds a lock on its file (flock), which ends with
/// the program, however that ends. False where the file system has no such locks.
bool is_being_written(const std::string& path);

/// A run read back. `result` is empty when the run was interrupted.
struct Run {
  std::string path;
  RunHeader header;
  std::vector<LogRecord> steps;
  std::optional<RunResult> result;
  std::vector<StepSizes> sizes{};  ///< one for each step with histograms
  std::vector<Finding> findings{};
  // What the table of another program tells or leaves open:
  std::string foreign_recipe{};  ///< its name for the recipe; `header.recipe` may not know it
  bool has_seed = true;          ///< false: the table tells none, and `header.seed` means nothing
};

inline constexpr std::int64_t all_lines = std::numeric_limits<std::int64_t>::max();

/// Reads a run log, of which `lines` count after the header; what follows them may be anything. Throws Error naming
/// file and line when the file is no run log, or when its steps do not go up. Ignores a last line that an interruption
/// cut short.
Run load_run(const std::string& path, std::int64_t lines = all_lines);

/// Makes and returns the first of DIR/NAME-001, DIR/NAME-002, ... that does not exist yet. So no run is
/// overwritten, not even when two programs ask at the same time.
std::string new_run_folder(const std::string& dir, const std::string& name);

/// The message for a file or folder that cannot be written: what, where, the reason behind `error_number`
/// (errno), and how to mend it.
std::string write_failure(const std::string& what, const std::string& path, int error_number);

}  // namespace tinymp::train
