#pragma once

#include <lessons/lab/report/memory_table.h>
#include <lessons/lab/report/table.h>
#include <lessons/lab/report/view.h>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The figures of groups of runs beside each other, and their differences to a baseline.
namespace tinymp::report {

/// The mean difference to the baseline over `pairs` pairs of runs with the same seed. The limits of the 95 % interval
/// (Student's t with pairs - 1 degrees of freedom) are there from two pairs on.
struct Difference {
  std::size_t pairs = 0;
  double mean = train::not_measured;
  std::optional<double> low{}, high{};
};

/// The interval of some differences, one or more; NaN when one of them is.
Difference difference_of(std::span<const double> differences);

/// One group. A figure is its mean over the runs that have it; empty: no run does.
struct Compared {
  std::string name;
  std::string recipe{}, model{}, data{}, seeds{}, lr{};  ///< several values are joined: "0 1 2"
  std::optional<double> final{}, best{};        ///< of the measure; best: on the validation data on the way
  std::optional<double> smallest{}, largest{};  ///< final values over the seeds
  std::optional<double> skips{}, lost{}, flushed{}, seconds{}, samples_per_second{}, peak_bytes{};
  std::optional<MemoryFigures> memory{};
  std::string mixed{};  ///< settings in which the runs differ, besides the seed: "optimizer, steps"
  bool is_baseline = false;
  std::optional<Difference> difference{};  ///< empty: no baseline, or no pair
};

struct Comparison {
  std::string measure;   ///< what `final` is: "test accuracy (%)", "training loss"
  std::string baseline;  ///< its name; empty: none
  std::vector<Compared> groups;
  std::size_t repeats = 0;  ///< runs that repeat another with its seed and result; they pair with none
};

/// The groups of one question. The measure is the training loss when the view's metric is "loss", else the
/// metric of the runs. A run without a seed pairs with none. Where runs share a seed, those pair that agree
/// in more of recipe, model, data, optimizer, steps and batch.
Comparison compare_groups(std::span<const Group> groups, const RunsView& view);

/// Throws UsageError naming what there is when no group, run or recipe answers to `view.against`.
void expect_baseline(std::span<const std::vector<Group>> questions, const RunsView& view);

/// True where the comparison tells what the table of groups does not: differences, best values, another measure.
bool says_more(const Comparison& comparison, const RunsView& view);
/// "test accuracy (%) against FP32"
std::string comparison_title(const Comparison& comparison);
/// One row a group: final, best, difference, interval, number of pairs. 80 columns hold it.
Table comparison_table(const Comparison& comparison);
/// What the table's words mean, in a sentence.
std::string comparison_note(const Comparison& comparison);

/// run,recipe,model,data,seed,lr,final,best,diff,low,high,skips,lost,flushed,seconds,peak_bytes,
/// samples_per_second, a row a group. Empty
/// where unknown; `low` and `high` are the limits of the interval of `diff`. Shares lie between 0 and 1.
std::string comparison_csv(std::span<const Comparison> comparisons);
/// The same as an array of objects, with the bytes of each kind under "memory". Unknown is null; NaN and infinities are
/// strings, as in a run log.
std::string comparison_json(std::span<const Comparison> comparisons);

}  // namespace tinymp::report
