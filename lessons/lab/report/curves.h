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

/// The name of a curve without the mark of a learner's pieces, "FP32 (YOURS: half)".
std::string without_pieces(const std::string& name);

/// In the order in which the names first appear.
std::vector<Group> group_by_recipe(std::span<const Run> runs);

enum class Quantity {
  loss,       ///< of the batch
  scale,      ///< S
  lost,       ///< share of updates that moved nothing: underflowed + absorbed
  flushed,    ///< share of gradients that this run flushed to zero
  grad_norm,  ///< of all gradients
  metric,     ///< RunHeader::metric, where it was measured on the way
  validation_loss,
  skips,  ///< steps skipped so far
  lr,     ///< the learning rate
};

/// S, the learning rate and the count of skips keep their value from one change to the next.
constexpr bool is_held(Quantity quantity) {
  return quantity == Quantity::scale || quantity == Quantity::skips || quantity == Quantity::lr;
}

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

/// Where the loss stopped being finite: "step 12", "step 2..40 (2 of 3 seeds)". `curve` has ends.
std::string ends_text(const Curve& curve);

/// How a panel's vertical axis counts.
enum class Scale { linear, decades, powers_of_two, share };

/// One chart: a quantity of all groups.
struct Panel {
  Quantity quantity;
  std::string title;
  Scale scale = Scale::linear;
  std::vector<Curve> curves{};       ///< one for each group that measured the quantity; never empty
  std::vector<std::size_t> group{};  ///< of each curve: decides its colour, dash and marker
  const char* x = "step";            ///< what Curve::step counts: put_against() changes it
};

/// One chart with a curve of each group that measured the quantity; without curves when none did.
Panel make_panel(std::span<const Group> groups, Quantity quantity);

/// The charts of a terminal; a page has more.
inline constexpr Quantity main_quantities[] = {Quantity::loss,   Quantity::validation_loss,
                                               Quantity::metric, Quantity::scale,
                                               Quantity::lost,   Quantity::flushed};
inline constexpr Quantity page_quantities[] = {
    Quantity::loss,    Quantity::validation_loss, Quantity::metric,    Quantity::scale, Quantity::lost,
    Quantity::flushed, Quantity::skips,           Quantity::grad_norm, Quantity::lr};

/// The charts worth drawing, one after the other (those of a hundred runs of 10,000 steps take 30 MB each): the loss
/// always (if any step was logged); the scale where one of them is dynamic; skips where there are some; the learning
/// rate where it moves or the groups differ in it; the others where they were measured. Of several metrics the first that is
/// not the validation loss again.
void each_panel(std::span<const Group> groups, std::span<const Quantity> quantities,
                const std::function<void(Panel)>& draw);

/// The same together, of the main quantities.
std::vector<Panel> make_panels(std::span<const Group> groups);

/// "Validation accuracy (%)": the metric as it was measured on the way, where a log of ours names it after
/// the test set.
std::string title_on_the_way(const Run& run);

}  // namespace tinymp::report
