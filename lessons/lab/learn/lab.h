#pragma once

#include <lessons/lab/report/number.h>
#include <lessons/lab/report/section.h>
#include <tinymp/data/dataset.h>
#include <tinymp/data/text.h>
#include <tinymp/train/loop.h>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// What every lesson's experiment shares: the command line, the data, the run folder, progress bars, the
/// table, the curves, the page and the verdict. A lesson's main.cpp is left with the experiment itself.
namespace tinymp::report {
class LiveCurves;
}

namespace tinymp::lab {

/// One curve of an experiment: the name it has everywhere, and its recipe.
struct Contender {
  std::string name;
  Recipe recipe;
};

struct Lesson {
  const char* name;      ///< its folder: "06_loss_scaling"
  const char* title;     ///< "Loss scaling: do small gradients survive?"
  const char* question;  ///< what --help says about it, in a sentence
  /// The techniques that --sabotage NAME turns off, without a word in --help: then --verify has to fail. One name, or several
  /// with spaces between.
  const char* sabotage = "";
  /// What it trains on, the best first: without --data the first that is here, and --verify wants the first.
  /// The last always is: "cut" and "course" come with tinymp. Fewer than three are followed by null.
  std::array<const char*, 3> data = {"mnist", "cut"};
  int seeds_of_verify = 3;
  const char* full = "";  ///< what --help says about --full; empty: there is no longer run than the usual one
};

/// All lessons, by number: course.cpp.
std::span<const Lesson> course();
/// The lesson of this number ("6", "06") or name ("06_loss_scaling"). Throws Error when there is none.
const Lesson& lesson_of(std::string_view word);

/// The names of its techniques, one by one.
std::vector<std::string> sabotages_of(const Lesson& lesson);

/// Does it read data::Text, not images? Then --data cut, by which all that comes with tinymp is meant, is the
/// course itself.
/// The text of that name: text or course; of no name text, else course.
data::Text chosen_text(const std::string& name, std::int64_t vocabulary, data::TextUnit unit);

/// A lesson says it, with the name of a sabotage, where it cannot run what that breaks.
inline const std::string not_tried = "Not tried, for its data are not here: --sabotage ";

inline bool reads_text(const Lesson& lesson) { return lesson.data[0] == std::string_view("text"); }

/// The command line that all lessons understand.
struct Options {
  int seeds = 1;                 ///< --seeds K (with --verify as the lesson says, unless given)
  std::uint64_t first_seed = 0;  ///< --first-seed F: seeds F, F+1, ...
  std::string data{};            ///< --data NAME; empty: the first of the lesson's that is there
  bool smoke = false;            ///< --smoke: a few steps, seconds; few claims can be judged
  bool full = false;             ///< --full: a run for a GPU and hours, of a lesson that has one
  bool verify = false;         ///< --verify: the full set, and a claim that does not hold ends in exit code 1
  std::string sabotage{};      ///< --sabotage NAME: this technique of the lesson is turned off
  bool predict = false;        ///< --predict: the learner's expectations are asked first
  bool plain = false;          ///< --plain: no colour, no Unicode, no progress bar
  bool live = false;           ///< --live: curves grow while models train
  bool open = false;           ///< --open: show the page in the browser
  std::string out = "runs";    ///< --out DIR
  std::string results{};       ///< --results FILE: what the chapter quotes, as JSON
  int threads = 0;             ///< --threads N; 0: all cores
  std::string device = "cpu";  ///< --device cpu|cuda
  bool graph = false;          ///< ./learn train --graph: a step is launched as a recorded graph
  std::string command{};  ///< what repeats this: "./learn run 6 --seeds 3"; empty: the lesson without options
};

class Lab {
 public:
  Lab(const Lesson& lesson, Options options);

  const Options& options() const { return options_; }
  bool sabotaged() const { return !options_.sabotage.empty(); }
  bool sabotaged(std::string_view name) const { return options_.sabotage == name; }
  Device device() const { return device_from_name(options_.device); }  ///< where models train

  /// The images of this run. Throws MissingError when --verify asks for the full set and it is not there.
  const data::Split& data();
  /// The text of this run, for a lesson that reads one. The first call says which it is.
  const data::Text& text(std::int64_t vocabulary, data::TextUnit unit = data::TextUnit::word);
  void say_data();  ///< which data it is, and how to get the chapter's where it is not
  /// The full sets and the embedded cut want different batch sizes and thresholds.
  bool is_cut();

  /// `normal`, or `smoke` with --smoke.
  std::int64_t steps(std::int64_t normal, std::int64_t smoke) const {
    return options_.smoke ? smoke : normal;
  }
  std::vector<std::uint64_t> seeds() const;

  /// Fills in what the lab knows: lesson, command, device, images unless the plan has a text, and the mark of the name
  /// (marked()).
  train::Plan complete(train::Plan plan);
  /// Completes a plan and trains it: draws the progress bar, keeps the run for the report and returns it.
  train::Run train(train::Plan plan, std::unique_ptr<nn::Model>* keep = nullptr);
  /// The same for a run that only prepares the others, as pretraining does: its log lies in the folder, but
  /// it is no part of the report. Returns the trained model.
  std::unique_ptr<nn::Model> prepare(train::Plan plan);
  /// The name of a curve as logs and pages have it: with a mark when the lesson's technique is turned off, so
  /// that the run is not taken for an honest one, or when pieces of the library are a learner's. complete()
  /// calls it; results() and runs() take the name without.
  std::string marked(const std::string& name) const;
  /// Goes on with the run that wrote this log and is named by plan.resume; the page goes beside it.
  train::Run go_on(train::Plan plan, const std::string& log);
  /// Trains a completed plan into a log elsewhere, or goes on with it there. It is no part of the report.
  train::Run train_apart(train::Plan plan, const std::string& log);
  /// A path in this run's folder for a lesson that writes its log itself; add() then hands the run to the
  /// report.
  std::string log_path(const std::string& name, std::uint64_t seed);
  /// With --live what draws the curves, for such a lesson's RunProgress and for a run that was recorded
  /// before; else null.
  report::LiveCurves* live() const;
  void add(train::Run run);

  /// The results of all runs of one curve so far, in the order of their seeds; NaN where a run ended in NaN.
  std::vector<double> results(std::string_view question, std::string_view name) const;
  /// ... and what was logged, for verdicts on skips, lost updates, flushed gradients.
  std::vector<const train::Run*> runs(std::string_view question, std::string_view name) const;
  /// ... one value of each logged step, &LogRecord::flushed say, where it was measured.
  std::vector<double> logged(std::string_view question, std::string_view name,
                             const std::function<double(const train::LogRecord&)>& value) const;
  /// True when the results of all seeds are NaN.
  bool ends_in_nan(std::string_view question, std::string_view name) const;

  /// The sentence under a question, made from what was measured. Printed by finish(), before that too when
  /// more is trained first, and put on the page. After --smoke it says that there were too few steps to tell.
  void verdict(const std::string& question, const std::string& sentence);
  /// The same for what is no verdict: a few steps are enough for it.
  void remark(const std::string& question, const std::string& sentence);
  /// When a claim is judged. --smoke takes a few steps: most claims want more, and those about a mechanism (a
  /// sum, a bit, a step that was taken) hold from the first.
  enum class Judged : std::uint8_t { in_full, in_smoke_too };
  /// Something the chapter promises. Without --verify it is printed with its mark; with it, a claim that does
  /// not hold makes finish() return 1.
  void claim(bool holds, const std::string& sentence, Judged when = Judged::in_full);

  // What several chapters claim. `what` is the curve in the words of the claim.
  /// "WHAT: NaN on every seed, first at step 19 to 20"
  void claim_nan(const std::string& question, const std::string& name, const std::string& what,
                 Judged when = Judged::in_smoke_too);
  /// "WHAT: of the first loss at most 0.07 is left (0.5 allowed)"; judged with --smoke too
  void claim_falls(const std::string& question, const std::string& name, const std::string& what);
  /// "WHAT within 0.03 points (0.5 allowed)": the results of two curves, on every seed
  void claim_same(const std::string& question, const std::string& a, const std::string& b,
                  const std::string& what, double allowed);
  /// The verdict "NaN: a. Trained: b | c.", of these curves
  void verdict_on_nan(const std::string& question, const std::vector<std::string>& names);

  /// Prints the last verdict now, above what is said next. Training prints it, too.
  void say_answer();
  /// Prints a line, or several, for what an experiment shows besides curves.
  void say(const std::string& text);
  /// A sentence on what was found, indented. On record, as chapters quote it, in lines of 98 columns.
  void say_finding(const std::string& sentence);
  /// All findings of a run under a heading.
  void say_findings(const std::string& heading, const train::Run& run);
  /// A figure besides the curves that the chapter quotes: number("fp16 dot product, K = 16384", 0.494). Each
  /// name once.
  void number(const std::string& name, double value);

  /// How finish() groups and draws the runs.
  void look(report::RunsView view);
  /// Table, terminal curves, verdicts, claims, the page and its path. Returns the exit code. The last call: the
  /// runs are gone afterwards.
  int finish();

 private:
  struct Impl;
  Options options_;
  std::shared_ptr<Impl> impl_;
};

/// main() of a lesson: parses the command line, runs the experiment, turns exceptions into one message and an
/// exit code (1 failed, 2 wrong use, 3 something is missing).
int run_lesson(int argc, char** argv, const char* name, const std::function<void(Lab&)>& experiment);

/// Helpers for verdicts: mean, smallest and largest of some results; NaN if any of them is NaN.
double mean(const std::vector<double>& values);
double smallest(const std::vector<double>& values);
double largest(const std::vector<double>& values);
/// The mean of some values, and the limits between which the mean of ever more such values lies, 95 times of
/// 100: Student's t, for values that spread about their mean as a bell curve does. Takes two values or more.
struct Interval {
  double mean, low, high;
};
Interval interval_of(const std::vector<double>& values);
/// a - b and a / b, seed by seed.
std::vector<double> differences(const std::vector<double>& a, const std::vector<double>& b);
std::vector<double> ratios(const std::vector<double>& a, const std::vector<double>& b);
/// The largest |a - b| of a seed; NaN if one of them is.
double largest_gap(const std::vector<double>& a, const std::vector<double>& b);
/// " (15 % or more on 2 of 3 seeds)", where `words` are "15 % or more", when some values reach `limit` and
/// others do not; else "". NaN reaches it.
std::string on_some_seeds(const std::vector<double>& values, double limit, const char* words);
/// "19 to 20": the first steps whose loss is not finite, over some runs; 0 is none.
std::string first_nan_steps(const std::vector<const train::Run*>& runs);
using report::fixed;
/// "-0.02 to 0.01", or "0.01" where both ends are written alike.
std::string range(double low, double high, int digits);
/// "83.0 (82.1 .. 84.2)", or "83.0" for one value, "NaN" for NaN.
std::string spread(const std::vector<double>& values, int digits);

}  // namespace tinymp::lab
