#pragma once

#include <tinymp/amp/float8_products.h>
#include <tinymp/train/loop.h>
#include <chrono>

/// What a log tells of a run at a step besides the step itself: how far it has come, how long that took, and what the
/// model makes of images that it does not train on.
namespace tinymp::train {

class RunCurves {
 public:
  /// A run is measured on so many of its validation images, the first ones: fewer make a curve that jumps (with 1,000
  /// an accuracy of 90 % is known to 1 point), more take longer than they tell.
  static constexpr std::int64_t images = 1000;
  static constexpr std::int64_t tokens = 8192;  ///< of a text

  /// The training begins now. `before` is what was logged of a run that goes on: the seconds go on from its last step.
  RunCurves(const Plan& plan, const nn::Model& model, const Float8Products& products,
            const std::vector<LogRecord>& before);
  RunCurves(const RunCurves&) = delete;
  RunCurves& operator=(const RunCurves&) = delete;

  /// True at the steps that are measured on the validation images.
  static bool is_measured(const Plan& plan, std::int64_t step);

  /// The texts that a run is measured on.
  static data::TextExamples measured_texts(const Plan& plan);

  /// Adds epoch, seconds and, where is_measured(), validation loss and metric. Call it when the model has the weights
  /// of after record.step and no gradient is waiting. `other_seconds` are those that were spent on no training.
  void add_to(LogRecord& record, double other_seconds);

  /// The seconds of training so far, without those of measuring.
  double seconds() const;

 private:
  void measure(LogRecord& record);

  using Clock = std::chrono::steady_clock;
  const Plan& plan_;
  const nn::Model& model_;
  const Float8Products& products_;
  data::Dataset images_{};
  std::optional<data::TextExamples> texts_{};
  double examples_ = 0;  ///< of an epoch
  double seconds_before_ = 0, seconds_measuring_ = 0;
  Clock::time_point start_ = Clock::now();
};

}  // namespace tinymp::train
