#pragma once

#include <lessons/lab/report/curves.h>
#include <functional>
#include <span>
#include <string>
#include <vector>

/// How recorded runs are looked at: what groups them, what they are measured against, which curves are drawn.
namespace tinymp::report {

enum class XAxis { step, epoch, seconds };

struct RunsView {
  /// A field of run_fields.h; empty: runs that differ in nothing but the seed are one group.
  std::string by{};
  std::string against{};  ///< the baseline: a group, a run, a recipe or FIELD=VALUE; empty: none
  /// One of curve_names(): the one chart; empty: those that make_panels() finds worth drawing.
  std::string metric{};
  XAxis x = XAxis::step;     ///< of the charts
  double smooth = 0;         ///< weight of an exponential moving average, 0 (none) up to 1
  bool logarithmic = false;  ///< of the vertical axis, where a share or S does not have its own
  bool memory = false;       ///< with a table of the memory that the runs took, by kind
};

/// "loss", "accuracy", "mse", "perplexity", "scale", "lost", "flushed", "grad_norm", "validation_loss", "skips", "lr".
std::vector<std::string> curve_names();

const char* word_of(XAxis axis);  ///< "seconds"

/// Puts a panel against another x. Curves whose logs do not record it at their steps leave the panel; returns their
/// names, with commas.
std::string put_against(Panel& panel, std::span<const Group> groups, XAxis axis);
/// The x of a step of the group, or of its last logged step before; `step` itself where none is recorded.
double x_at(const Group& group, std::int64_t step, XAxis axis);

std::vector<Group> groups_of(std::span<const Run> runs, const RunsView& view);

/// Calls `draw` with each panel of the view, one after the other. Returns in sentences what the logs do not have.
std::vector<std::string> draw_view(std::span<const Group> groups, const RunsView& view,
                                   const std::function<void(const Panel&)>& draw);

}  // namespace tinymp::report
