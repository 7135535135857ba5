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
  std::string
      by{};  ///< a field of run_fields.h; empty: runs that differ in nothing but the seed are one group
  std::string against{};  ///< the baseline: a group, a run, a recipe or FIELD=VALUE; empty: none
  std::string
      metric{};  ///< one of curve_names(): the one chart; empty: those that make_panels() finds worth drawing
  XAxis x = XAxis::step;
  double smooth = 0;         ///< weight of an exponential moving average, 0 (none) up to 1
  bool logarithmic = false;  ///< of the vertical axis, where a share or S does not have its own
};

/// "loss", "accuracy", "mse", "perplexity", "scale", "lost", "flushed", "grad_norm".
std::vector<std::string> curve_names();

std::vector<Group> groups_of(std::span<const Run> runs, const RunsView& view);

/// Calls `draw` with each panel of the view, one after the other. Returns in sentences what the logs do not have.
std::vector<std::string> draw_view(std::span<const Group> groups, const RunsView& view,
                                   const std::function<void(const Panel&)>& draw);

}  // namespace tinymp::report
