#pragma once

#include <tinymp/amp/loss_scaler.h>
#include <tinymp/autograd/nonfinite_tracer.h>
#include <tinymp/train/loop.h>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Where a run's first infinity or NaN came from. No step is watched for it but the first: what a step finds
/// anyway - its loss, how many gradients were not finite - says when something went wrong. Then a twin of the
/// run goes back to where all was well, takes the same steps with the same batches, and is watched.
///
/// Reported, each once at most:
/// - first bad: the loss is not finite, or a gradient of a step that was taken, or a weight after the last
///   step. With a fixed S, a gradient of a skipped step too: the next step will fare no better.
/// - passing: an infinity that left the loss finite. A mask of -1e9 in FP16 is one, an infinite variance or
///   moment another. The first step is searched for them, and running averages and FP16 moments all along: a
///   report of each.
/// - scale below 1: dynamic scaling skips a step and backs off below 1. Names the parameter.
/// A step that dynamic scaling skips above that is as it should be, and no finding.
///
/// Until the first bad one is found the state of the run - weights, masters, moments, buffers - lies on the
/// CPU once more, not older than 128 steps. The twin is a second model with its optimizer on the device of
/// the run, for as long as it is watched.
namespace tinymp::train {

class FaultFinder {
 public:
  /// What moves in a run; it must outlive the finder.
  struct Running {
    const nn::Model& model;
    const Optimizer& optimizer;
    const LossScaler& scaler;
    const data::Loader& loader;
  };
  using Twin = std::function<std::unique_ptr<nn::Model>()>;
  using Report = std::function<void(const Finding&)>;
  /// `twin` makes the model anew. Copies the state of the run, as keep() does later.
  FaultFinder(const Plan& plan, const Running& running, Twin twin, Report report);
  FaultFinder(const FaultFinder&) = delete;
  FaultFinder& operator=(const FaultFinder&) = delete;

  /// The tracer over step 1.
  NonfiniteTracer& first_step() { return first_step_; }
  /// False once the first bad one is found: then there is nothing more to look at.
  bool searching() const { return past_.has_value(); }
  /// Every step in its order, as soon as it was read back, with its count of gradients that are not finite.
  void look(const LogRecord& step, std::int64_t nonfinite_gradients);
  /// `step` steps are over and were looked at: a moment to go back to. Copies the state of the run where the
  /// last copy is 128 steps old.
  void keep(std::int64_t step);
  /// The run is over.
  void finish(std::int64_t steps);
  /// Spent with the twin so far: no time of the training.
  double seconds() const { return seconds_; }

  /// A run at one moment: copies, not handles.
  struct Moment {
    std::int64_t step = 0;
    Optimizer::State optimizer;
    std::vector<Tensor> buffers{};  ///< of the model: what a dropout counts chooses its next mask
    ScaleState scaler;
    data::Loader loader;
  };

 private:
  enum class Seek : std::uint8_t {
    loss,     ///< what broke this step, or an update before it
    scale,    ///< which gradient of this step was not finite
    passing,  ///< an infinity of any step since the copy, or an update's, that no loss has shown
  };
  Moment now(std::int64_t step) const;
  void report(const char* kind, Finding finding);
  void report_first_bad(std::int64_t step);
  void look_at_first_step();
  void look_at_state(std::int64_t step);
  void look_at_weights(std::int64_t step);
  Finding replay(std::int64_t until, Seek seek);
  Finding replay_steps(std::int64_t until, Seek seek);

  const Plan& plan_;
  Running running_;
  Twin twin_;
  Report report_;
  NonfiniteTracer first_step_;
  std::optional<Moment> past_;                ///< none: the first bad one is found
  std::vector<NonfiniteTracer::Made> known_;  ///< the passing infinities
  bool passed_first_step_ = false, passed_to_state_ = false, alarmed_ = false;  ///< reported already
  double seconds_ = 0;
};

/// What the parameters held a step before, by name.
using RangesBefore = std::map<std::string, Contents>;

/// What the tracer saw first, as a finding of `step` but for its kind; `scale` is S in force, `images` what a
/// row of the batch is.
Finding describe(const NonfiniteTracer& tracer, std::int64_t step, double scale = 1,
                 const RangesBefore& before = {}, const data::ImageShape& images = {});

/// A parameter that its update made infinite or NaN.
struct BadUpdate {
  std::string parameter;     ///< "layer 2 weight"
  std::string optimizer;     ///< "Adam"
  std::string what;          ///< "first moment", "second moment", "master", "weight"
  DType dtype = DType::f32;  ///< of that
  Shape shape;
  Contents contents;
  Contents gradient;               ///< of the parameter, unscaled
  std::vector<double> at;          ///< at the first bad place: the gradient, then the moments as they are now
  DType state = DType::f32;        ///< of the moments
  std::optional<Contents> master;  ///< when a finite master was rounded to the weight
};
Finding describe(const BadUpdate& bad, std::int64_t step);

}  // namespace tinymp::train
