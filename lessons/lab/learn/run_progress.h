#pragma once

#include <lessons/lab/learn/lab.h>
#include <lessons/lab/report/progress.h>
#include <optional>

namespace tinymp::lab {

/// While it lives, Ctrl-C says a last sentence before the program ends as it would have anyway.
class LastWords {
 public:
  explicit LastWords(const std::string& sentence);  ///< one at a time
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;
};

/// What a run shows while it goes: a bar on a terminal, a line at its end elsewhere, and after Ctrl-C where
/// its log lies.
class RunProgress {
 public:
  /// `name` is the curve's, `log` the path of the run's log. A run that `stops` by itself after Ctrl-C leaves the
  /// last words to its command.
  RunProgress(std::string name, std::int64_t steps, const std::string& log, const Options& options,
              bool stops = false);
  void update(const train::LogRecord& step) { bar_.update(step.step, step.loss, step.scale); }
  void finish() { bar_.finish(); }  ///< the last step is taken
  /// The result is there. Where no bar was drawn a line tells a log file how far we are.
  void tell(const train::Run& run) const;

 private:
  std::string name_;
  std::optional<LastWords> if_interrupted_;
  report::Progress bar_;
};

}  // namespace tinymp::lab
