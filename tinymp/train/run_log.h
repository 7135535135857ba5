#pragma once

#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <tinymp/numeric/recipe.h>
#include <vector>

/// A training run on disk: one JSON object a line, a header first, then a line a logged step, a result last.
/// Each line is flushed as it is written, so an interrupted run keeps everything up to its last logged step.
/// NaN and infinities are written as the strings "nan", "inf" and "-inf".
namespace tinymp::train {

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// What was run, and on what. The second half is filled in by RunLog.
struct RunHeader {
  std::string lesson;     ///< "06_loss_scaling", "quickstart", "train"
  std::string question;   ///< the panel a curve belongs to: "Do small gradients survive?"
  std::string name;       ///< the curve: "FP16, S = 1"
  Recipe recipe;
  std::uint64_t seed = 0;
  std::string model;      ///< "autoencoder 784-64-32-64-784 sigmoid"
  std::string data;       ///< "mnist (55000 train, 5000 validation, 10000 test)"
  std::string optimizer;  ///< "adam lr=0.01"
  std::int64_t steps = 0;
  std::int64_t batch = 0;
  std::string metric;             ///< what RunResult::value is: "test accuracy (%)", "test MSE"
  bool higher_is_better = false;  ///< of that metric

  std::string date, commit, compiler, device;
  int threads = 0;
};

/// One logged step. Shares are fractions of all gradient values (0 .. 1); NaN means not measured at this step.
struct StepRecord {
  std::int64_t step = 0;               ///< 1 is the first
  double loss = 0;                     ///< of this batch, unscaled
  double scale = 1;                    ///< S in force during the step
  bool skipped = false;                ///< a gradient was not finite and the optimizer did not move
  std::int64_t skips = 0;              ///< skipped so far, this step included
  double zero = not_measured;          ///< gradients that are exactly zero
  double subnormal = not_measured;     ///< gradients below the smallest normal number of their format
  double flushed = not_measured;       ///< zero here, yet not zero in an FP32 shadow of the same step
  double underflowed = not_measured;   ///< updates that are not zero in FP32 but zero in the master's format
  double absorbed = not_measured;      ///< updates that are not zero yet leave the weight as it was
};

struct RunResult {
  double value = not_measured;            ///< of RunHeader::metric, measured on the test set
  std::int64_t taken = 0, skipped = 0;    ///< optimizer steps
  std::int64_t first_nonfinite_step = 0;  ///< the first step whose loss was NaN or infinite; 0: none
  double seconds = 0;                     ///< wall time of training
};

/// Writes one run. Refuses to write over a file that exists; throws Error naming the path and the reason when the
/// disk is full or the folder read-only.
class RunLog {
 public:
  RunLog(std::string path, RunHeader header);  ///< writes the header line
  void write(const StepRecord& step);
  void finish(const RunResult& result);
  const std::string& path() const { return path_; }

 private:
  void write_line(const std::string& json);
  std::string path_;
  std::ofstream out_;
};

/// A run read back. `result` is empty when the run was interrupted.
struct Run {
  std::string path;
  RunHeader header;
  std::vector<StepRecord> steps;
  std::optional<RunResult> result;
};

/// Reads a run log; throws Error naming file and line when it is not one. A last line that was cut short by an
/// interruption is left out, as if it had not been written.
Run load_run(const std::string& path);

/// DIR/NAME-001, DIR/NAME-002, ...: makes and returns the first that does not exist yet. No run is ever overwritten.
std::string new_run_folder(const std::string& dir, const std::string& name);

}  // namespace tinymp::train
