#pragma once

#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/terminal.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

/// The loss of a run while it trains. On a terminal its curve grows in place, beside those of the runs before it;
/// elsewhere a line tells every ten seconds how far the run is.
namespace tinymp::report {

/// The losses of any number of steps as a few hundred points, each the mean of equally many steps.
class ThinSteps {
 public:
  static constexpr std::size_t most = 512;
  void add(const train::LogRecord& step);
  const std::vector<train::LogRecord>& points() const { return points_; }

 private:
  void halve();
  std::vector<train::LogRecord> points_;
  std::int64_t each_ = 1;  ///< steps of a point
  std::int64_t seen_ = 0;  ///< steps since the last point
  double sum_ = 0;         ///< of the finite losses among them
  std::int64_t finite_ = 0;
};

class LiveCurves {
 public:
  /// Draws to `out` (stderr, as a rule). `plain`: ASCII, no colour.
  explicit LiveCurves(std::FILE* out, bool plain = false);
  LiveCurves(const LiveCurves&) = delete;
  LiveCurves& operator=(const LiveCurves&) = delete;

  /// A run that is over. Runs of the same question stand beside the one that grows, a curve a group.
  void add(const Run& run);

  /// A run begins: `header` tells name, seed, recipe, optimizer, question, steps and batch.
  void begin(const train::RunHeader& header);
  /// After a step. Redraws four times a second at most, and takes less than 2 % of the time.
  void update(const train::LogRecord& step);
  /// The run is over. Takes the drawing off the screen.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void show(Clock::time_point now);
  std::vector<std::string> lines(Clock::time_point now, int rows) const;
  std::string chart(int rows) const;
  std::vector<std::string> status(Clock::time_point now) const;
  std::string up() const;

  std::FILE* out_;
  TerminalStyle style_;
  bool draws_;               ///< false: lines
  std::vector<Run> before_;  ///< thinned
  Run now_{};                ///< without steps: those are in steps_
  ThinSteps steps_;
  train::LogRecord last_{};
  std::int64_t first_step_ = 0;  ///< the steps that were over when this program began
  Clock::time_point start_{}, next_{};
  std::vector<int> drawn_;  ///< the widths of the lines on the screen
};

}  // namespace tinymp::report
