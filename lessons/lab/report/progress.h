#pragma once

#include <lessons/lab/report/terminal.h>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

/// A progress bar on a terminal:  FP16, S = 1  ━━━━━━━━━━━━━────────  217/400  loss 0.0741  S 1024  3 s left
namespace tinymp::report {

class Progress {
 public:
  /// Draws to `out` (stderr, as a rule) only if it is a terminal; otherwise nothing is ever written. `plain`:
  /// ASCII, no colour.
  Progress(std::FILE* out, std::string name, std::int64_t total, bool plain = false);
  ~Progress();  ///< ends the line, so that an error message starts on one of its own
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// After a step. Redraws ten times a second at most; else it costs a look at the clock, or less when
  /// nothing is drawn.
  void update(std::int64_t step, double loss, double scale = 1) {
    if (!visible_) return;
    step_ = step;
    loss_ = loss;
    scale_ = scale;
    const auto now = std::chrono::steady_clock::now();
    if (now >= next_) draw(now);
  }

  /// The last state and the time it took stay on the screen; the bar is done. Called once, or not at all.
  void finish();

 private:
  using Clock = std::chrono::steady_clock;
  void draw(Clock::time_point now);
  void write_line(const std::string& left, const std::string& right);
  std::string counts() const;
  std::string bar(int width) const;

  std::FILE* out_;
  std::string name_;
  std::int64_t total_;
  TerminalStyle style_;
  bool visible_;
  std::int64_t step_ = 0;
  double loss_ = 0, scale_ = 1;
  int drawn_width_ = 0;  ///< columns on the screen now
  Clock::time_point start_ = Clock::now(), next_ = start_;
};

}  // namespace tinymp::report
