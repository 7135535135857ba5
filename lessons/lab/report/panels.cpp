#include <lessons/lab/report/curves.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

// Which charts are worth drawing, and how their axes count.
namespace tinymp::report {
namespace {

/// A constant S has its place in the table; a chart is for one that may move.
bool scale_may_move(std::span<const Group> groups) {
  for (const Group& group : groups) {
    if (moves(group.runs[0]->header.recipe.scaling)) return true;
    for (const Run* run : group.runs) {
      const auto moved = [run](const train::LogRecord& r) { return r.scale != run->steps[0].scale; };
      if (std::any_of(run->steps.begin(), run->steps.end(), moved)) return true;
    }
  }
  return false;
}

/// A chart of equal and constant lines says nothing.
bool says_something(const Panel& panel) {
  const double first = panel.curves.empty() ? 0 : panel.curves[0].mean[0];
  return std::ranges::any_of(panel.curves, [&](const Curve& curve) {
    return std::ranges::any_of(curve.mean, [&](double value) { return value != first; });
  });
}

/// Positive values that span more than two decades need a logarithmic axis to be seen at all.
Scale scale_of_values(const Panel& panel) {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (const Curve& curve : panel.curves) {
    for (double value : curve.mean) {
      if (!std::isfinite(value)) continue;
      if (value <= 0) return Scale::linear;
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  return high > 100 * low ? Scale::decades : Scale::linear;
}

std::string capitalised(std::string title) {
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z')
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
  return title;
}

std::string title_of(const Panel& panel, std::span<const Group> groups) {
  switch (panel.quantity) {
    case Quantity::loss:
      return "Training loss";
    case Quantity::validation_loss:
      return "Validation loss";
    case Quantity::scale:
      return "Loss scale S";
    case Quantity::lost:
      return "Updates that moved nothing";
    case Quantity::flushed:
      return "Gradients flushed to zero";
    case Quantity::skips:
      return "Steps skipped so far";
    case Quantity::grad_norm:
      return "Norm of the gradients";
    case Quantity::lr:
      return "Learning rate";
    case Quantity::metric:
      break;
  }
  return panel.group.empty() ? "Metric" : title_on_the_way(*groups[panel.group[0]].runs[0]);
}

Scale scale_of(const Panel& panel) {
  if (panel.quantity == Quantity::scale) return Scale::powers_of_two;
  if (panel.quantity == Quantity::lost || panel.quantity == Quantity::flushed) return Scale::share;
  if (panel.quantity == Quantity::metric || panel.quantity == Quantity::skips) return Scale::linear;
  return scale_of_values(panel);
}

void erase_curve(Panel& panel, std::size_t i) {
  panel.curves.erase(panel.curves.begin() + static_cast<std::ptrdiff_t>(i));
  panel.group.erase(panel.group.begin() + static_cast<std::ptrdiff_t>(i));
}

/// The metric of a text is its validation loss, which has a chart already.
void drop_validation_losses(Panel& panel, std::span<const Group> groups) {
  const auto is_drawn = [&](const Run* run) {
    return std::ranges::all_of(run->steps, [](const train::LogRecord& r) {
      return !train::is_measured(r.metric) || r.metric == r.validation_loss ||
             (std::isnan(r.metric) && train::is_measured(r.validation_loss) && std::isnan(r.validation_loss));
    });
  };
  for (std::size_t i = panel.curves.size(); i-- > 0;)
    if (std::ranges::all_of(groups[panel.group[i]].runs, is_drawn)) erase_curve(panel, i);
}

/// Two metrics share no axis: the first one stays.
void keep_one_metric(Panel& panel, std::span<const Group> groups) {
  const auto metric_of = [&](std::size_t g) { return groups[g].runs[0]->header.metric; };
  for (std::size_t i = panel.curves.size(); i-- > 1;) {
    if (metric_of(panel.group[i]) != metric_of(panel.group[0])) erase_curve(panel, i);
  }
  panel.title = title_of(panel, groups);
}

}  // namespace

std::string title_on_the_way(const Run& run) {
  const std::string& name = run.header.metric;
  const bool is_ours = run.foreign_recipe.empty();
  if (is_ours && name.starts_with("test ")) return "Validation " + name.substr(5);
  return name.empty() ? "Metric" : capitalised(name);
}

Panel make_panel(std::span<const Group> groups, Quantity quantity) {
  Panel panel{.quantity = quantity, .title = ""};
  for (std::size_t g = 0; g < groups.size(); ++g) {
    Curve curve = make_curve(groups[g], quantity);
    if (curve.step.empty()) continue;
    panel.curves.push_back(std::move(curve));
    panel.group.push_back(g);
  }
  panel.title = title_of(panel, groups);
  if (!panel.curves.empty()) panel.scale = scale_of(panel);
  return panel;
}

void each_panel(std::span<const Group> groups, std::span<const Quantity> quantities,
                const std::function<void(Panel)>& draw) {
  for (const Quantity quantity : quantities) {
    if (quantity == Quantity::scale && !scale_may_move(groups)) continue;
    Panel panel = make_panel(groups, quantity);
    if (quantity == Quantity::metric) {
      drop_validation_losses(panel, groups);
      keep_one_metric(panel, groups);
    }
    const bool may_be_silent = quantity == Quantity::skips || quantity == Quantity::lr;
    if (may_be_silent && !says_something(panel)) continue;
    if (!panel.curves.empty()) draw(std::move(panel));
  }
}

std::vector<Panel> make_panels(std::span<const Group> groups) {
  std::vector<Panel> panels;
  each_panel(groups, main_quantities, [&](Panel panel) { panels.push_back(std::move(panel)); });
  return panels;
}

}  // namespace tinymp::report
