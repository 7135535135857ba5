#pragma once

#include <lessons/lab/learn/lab.h>
#include <lessons/lab/report/live_curves.h>
#include <lessons/lab/report/progress.h>
#include <optional>

namespace tinymp::lab {

/// While it lives, Ctrl-C or SIGTERM says a last sentence before the program ends as it would have anyway.
class LastWords {
 public:
  explicit LastWords(const std::string& sentence);  ///< one at a time
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
};

/// What a run shows while it goes: a bar on a terminal, or with --live its curve; a line at its end
/// elsewhere; and after Ctrl-C where its log lies.
class RunProgress {
 public:
  /// `log` is the path of the run's log, `live` what draws its curve or null. A run that `stops` by itself after Ctrl-C
  /// leaves the last words to its command.
  RunProgress(train::RunHeader header, const std::string& log, const Options& options,
              report::LiveCurves* live, bool stops = false);
  void update(const train::LogRecord& step) {
    if (live_ == nullptr)
      bar_.update(step.step, step.loss, step.scale);
    else
      live_->update(last_ = step);
  }
  void finish();  ///< the last step is taken
  /// The result is there. Where no bar was drawn a line tells a log file how far we are.
  void tell(const train::Run& run) const;

 private:
  std::string name_;
  std::optional<LastWords> if_interrupted_;
  report::LiveCurves* live_;
  train::LogRecord last_{};
  report::Progress bar_;
};

}  // namespace tinymp::lab
