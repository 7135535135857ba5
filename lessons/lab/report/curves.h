#pragma once

#include <tinymp/train/run_log.h>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// From runs to curves: the runs of one recipe with different seeds become one curve, their mean.
namespace tinymp::report {

using train::Run;

/// Runs that differ in nothing but the seed (and what must not matter: threads, compiler, date).
struct Group {
  std::string name;  ///< the runs' own; where two groups share it, what tells them apart is added in brackets
  std::vector<const Run*> runs;
};

/// In the order in which the names first appear.
std::vector<Group> group_by_recipe(std::span<const Run> runs);

enum class Quantity {
  loss,       ///< of the batch
  scale,      ///< S
  lost,       ///< share of updates that moved nothing: underflowed + absorbed
  flushed,    ///< share of gradients that this run flushed to zero
  grad_norm,  ///< of all gradients
  metric,     ///< RunHeader::metric, where it was measured on the way
};

/// The value at one logged step; NaN when it was not measured there.
double value_of(Quantity quantity, const train::LogRecord& record);

/// The mean over all seeds of the mean over the steps where it was measured; NaN where it never was.
double mean_share(const Group& group, double (*share)(const train::LogRecord&));

/// One seed's loss stopped being finite; the cross is drawn here, at its last finite value.
struct CurveEnd {
  double step, value;  ///< `step` 0: it never was finite
  double nonfinite_step;
  std::uint64_t seed = 0;
};

/// Points are the logged steps at which some seed measured the quantity, in order. `mean`, `low` and `high`
/// are over the seeds whose value is finite; NaN (a gap) where none is.
struct Curve {
  std::string name;
  std::vector<double> step{}, mean{}, low{}, high{};
  std::vector<CurveEnd> ends{};
  std::size_t seeds = 0;  ///< different ones
  std::string note{};     ///< a lost share's two mechanisms: "15 % underflowed, 61 % absorbed", from 5 % on
};

Curve make_curve(const Group& group, Quantity quantity);

/// Where the loss stopped being finite: "step 12", "step 2..40 (2 of 3 seeds)". Of a curve that has ends.
std::string ends_text(const Curve& curve);

/// At most `max_points`: runs of neighbours become one point, their mean (the band keeps its extremes).
Curve thin(const Curve& curve, Quantity quantity, std::size_t max_points);

/// How a panel's vertical axis counts.
enum class Scale { linear, decades, powers_of_two, share };

/// One chart: a quantity of all groups.
struct Panel {
  Quantity quantity;
  std::string title;
  Scale scale = Scale::linear;
  std::vector<Curve> curves{};       ///< one for each group that measured the quantity; never empty
  std::vector<std::size_t> group{};  ///< of each curve: decides its colour, dash and marker
};

/// One chart with a curve of each group that measured the quantity; without curves when none did.
Panel make_panel(std::span<const Group> groups, Quantity quantity);

/// The charts worth drawing: the loss always (if any step was logged); the scale where one of them is
/// dynamic; lost updates and flushed gradients where they were measured.
std::vector<Panel> make_panels(std::span<const Group> groups);

/// The same, one after the other: those of a hundred runs of 10,000 steps take 30 MB each.
void each_panel(std::span<const Group> groups, const std::function<void(Panel)>& draw);

}  // namespace tinymp::report
