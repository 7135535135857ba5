#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/nonfinite_tracer.h>
#include <tinymp/train/eight_bit_meter.h>
#include <tinymp/train/loop.h>
#include <tinymp/train/moment.h>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Finds where the first infinity or NaN of a run came from. The finder traces only the first step. Later the
/// loss and the count of gradients that are not finite, which every step has anyway, tell when something went
/// wrong. Then a twin of the run goes back to a finite state, takes the same steps with
/// the same batches, and is traced.
///
/// It reports these, at most once each:
/// - first bad: the loss is not finite, or a gradient of a step that was taken, or a weight after the last
///   step. With a fixed S, a gradient of a skipped step too: the next step has the same S.
/// - passing: an infinity that left the loss finite, such as a mask of -1e9 in FP16, an infinite variance or
///   an infinite moment. The finder searches the first step, and later the running averages and FP16 moments.
///   Each of the two searches may report once.
/// - scale below 1: dynamic scaling skips a step and backs off below 1. The report names the parameter.
/// - lost in FP8: every value of a tensor became 0 on its way into a product, or in a recipe that saturates a tenth of them
///   became the largest number. Steps 1 and 2 are searched, each 128th, and those of the histograms. Tensors that have no
///   delayed scale of their own yet do not count: the scale is still 1.
/// Skipping at S >= 1 is normal for dynamic scaling and is not reported.
///
/// Until the first bad value is found, the device of the run holds a copy of its state (weights, masters, moments,
/// buffers) that is at most 128 steps old. The twin is a second model with its optimizer, on the device of
/// the run; it exists only while it is traced.
namespace tinymp::train {

class FaultFinder {
 public:
  /// The parts of a run must outlive the finder.
  using Running = RunningParts;
  using Moment = train::Moment;
  using Twin = std::function<std::unique_ptr<nn::Model>()>;
  using Report = std::function<void(const Finding&)>;
  /// `twin` makes a second model. Copies the state of the run, as keep() does later.
  FaultFinder(const Plan& plan, const Running& running, Twin twin, Report report);
  FaultFinder(const FaultFinder&) = delete;
  FaultFinder& operator=(const FaultFinder&) = delete;

  /// The tracer for step 1.
  NonfiniteTracer& first_step() { return first_step_; }
  /// False after the first bad value was found: then the search is over.
  bool searching() const { return memory_.past.has_value(); }
  /// True for steps that shall count what FP8 loses: few of them, for a count reads each operand of each product.
  bool seeks_lost(std::int64_t step) const;
  /// Call it for the steps that know what FP8 lost. Reports the first only.
  void report_lost(const NarrowedTensor& worst, std::int64_t step);
  /// Call it for every step, in order, after reading the step back.
  void check_step(const LogRecord& step, std::int64_t nonfinite_gradients);
  /// Call it when `step` steps are over and check_step() has seen them. Copies the state of the run when the last
  /// copy is 128 steps old.
  void keep(std::int64_t step);
  /// Call it when the run is over.
  void finish(std::int64_t steps);
  /// The time spent with the twin so far; it is no training time.
  double seconds() const { return seconds_; }

  /// What the finder knows. A run that goes on needs it, to find and report the same at the same steps.
  struct Memory {
    std::optional<Moment> past{};                ///< empty after the first bad value was found
    std::vector<NonfiniteTracer::Made> known{};  ///< the passing infinities
    /// True after the report.
    bool passed_first_step = false, passed_to_state = false, alarmed = false, lost_reported = false;
  };
  const Memory& memory() const { return memory_; }
  void restore(Memory memory) { memory_ = std::move(memory); }

 private:
  enum class Seek : std::uint8_t {
    loss,     ///< the op of this step, or the update before it, that broke the loss
    scale,    ///< the gradient of this step that was not finite
    passing,  ///< an infinity since the copy, in a step or an update, that left the loss finite
  };
  void report(const char* kind, Finding finding);
  void report_first_bad(std::int64_t step);
  void check_first_step();
  void check_state(std::int64_t step);
  void check_weights(std::int64_t step);
  Finding replay(std::int64_t until, Seek seek);
  Finding replay_steps(std::int64_t until, Seek seek);

  const Plan& plan_;
  Running running_;
  Twin twin_;
  Report report_;
  NonfiniteTracer first_step_;
  Memory memory_;
  double seconds_ = 0;
};

/// The contents of the parameters a step before, by name.
using RangesBefore = std::map<std::string, Contents>;

/// Describes the tracer's first bad tensor as a finding of `step`, without the kind. `scale` is the S of that
/// step, `images` the shape of a row of the batch.
Finding describe(const NonfiniteTracer& tracer, std::int64_t step, double scale = 1,
                 const RangesBefore& before = {}, const data::ImageShape& images = {});

/// A parameter that its update made infinite or NaN.
struct BadUpdate {
  std::string parameter;     ///< "layer 2 weight"
  std::string optimizer;     ///< "Adam"
  std::string what;          ///< "first moment", "second moment", "master", "weight"
  DType dtype = DType::f32;  ///< the format of `what`
  Shape shape;
  Contents contents;
  Contents gradient;               ///< the unscaled gradient of the parameter
  std::vector<double> at;          ///< the values at the first bad place: the gradient, then the new moments
  DType state = DType::f32;        ///< the format of the moments
  std::optional<Contents> master;  ///< set when a finite master was rounded to the bad weight
};
Finding describe(const BadUpdate& bad, std::int64_t step);

/// Describes what FP8 lost of a tensor in `step`, without the kind.
Finding describe(const NarrowedTensor& worst, std::int64_t step);

}  // namespace tinymp::train
