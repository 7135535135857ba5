#include <lessons/lab/report/run_fields.h>
#include <lessons/lab/report/view.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace tinymp::report {
namespace {

/// The names of quantities; the others of curve_names() are metrics.
constexpr std::pair<const char*, Quantity> quantities[] = {
    {"loss", Quantity::loss},           {"scale", Quantity::scale},
    {"lost", Quantity::lost},           {"flushed", Quantity::flushed},
    {"grad_norm", Quantity::grad_norm}, {"validation_loss", Quantity::validation_loss},
    {"skips", Quantity::skips},         {"lr", Quantity::lr}};
constexpr const char* metrics[] = {"accuracy", "mse", "perplexity"};

Quantity quantity_of(const std::string& name) {
  for (const auto& [word, quantity] : quantities)
    if (name == word) return quantity;
  return Quantity::metric;
}

/// The examples of the training set as RunHeader::data tells them: "mnist (55000 train, ...)"; 0 where it does not.
double training_examples(const std::string& data) {
  const std::size_t end = data.find(" train");
  const std::size_t begin = end == std::string::npos ? end : data.rfind('(', end);
  std::int64_t count = 0;
  if (begin == std::string::npos) return 0;
  std::from_chars(data.data() + begin + 1, data.data() + end, count);
  return static_cast<double>(count);
}

double x_of(const Run& run, const train::LogRecord& record, XAxis axis) {
  if (axis == XAxis::seconds || !std::isnan(record.epoch))
    return axis == XAxis::seconds ? record.seconds : record.epoch;
  const double examples = training_examples(run.header.data);
  const double seen = static_cast<double>(record.step) * static_cast<double>(run.header.samples());
  return examples > 0 && seen > 0 ? seen / examples : train::not_measured;
}

/// The mean x over the runs at each of their steps.
std::map<double, double> x_by_step(const Group& group, XAxis axis) {
  std::map<double, std::pair<double, int>> sums;
  for (const Run* run : group.runs) {
    for (const train::LogRecord& record : run->steps) {
      const double x = x_of(*run, record, axis);
      if (!std::isfinite(x)) continue;
      auto& [sum, count] = sums[static_cast<double>(record.step)];
      sum += x;
      ++count;
    }
  }
  std::map<double, double> means;
  for (const auto& [step, sum] : sums) means[step] = sum.first / sum.second;
  return means;
}

/// The curve against another x. A point whose x no run recorded is left out; where seeds bring an x that goes back, the
/// points stand in the order of x.
Curve against(const Curve& curve, const std::map<double, double>& x) {
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = 0; i < curve.step.size(); ++i)
    if (const auto found = x.find(curve.step[i]); found != x.end()) order.emplace_back(found->second, i);
  std::ranges::sort(order);
  Curve moved{.name = curve.name, .ends = curve.ends, .seeds = curve.seeds, .note = curve.note};
  for (const auto& [at, i] : order) {
    moved.step.push_back(at);
    moved.mean.push_back(curve.mean[i]);
    moved.low.push_back(curve.low[i]);
    moved.high.push_back(curve.high[i]);
  }
  for (CurveEnd& end : moved.ends)
    if (const auto found = x.find(end.step); found != x.end()) end.step = found->second;
  return moved;
}

/// As the page smooths: an average that forgets, freed of its start at zero; a gap stays a gap.
void smooth(std::vector<double>& values, double weight) {
  double sum = 0, norm = 0;
  for (double& value : values) {
    if (!std::isfinite(value)) continue;
    sum = weight * sum + (1 - weight) * value;
    norm = weight * norm + (1 - weight);
    value = sum / norm;
  }
}

/// Puts the panel against the x of the view, and says which groups do not have it.
void change_axis(Panel& panel, std::span<const Group> groups, XAxis axis, std::vector<std::string>& missing) {
  const std::string title = panel.title, without = put_against(panel, groups, axis);
  panel.title += concat(" against ", word_of(axis));
  if (!without.empty())
    missing.push_back(concat(title, ": no curve of ", without, ", whose logs do not record ", word_of(axis),
                             " at their steps; --x step draws it."));
}

/// Why no run has a curve of the metric, in a sentence.
std::string why_none(std::span<const Group> groups, const std::string& name) {
  const bool is_metric = quantity_of(name) == Quantity::metric;
  const std::string of_runs = groups[0].runs[0]->header.metric;
  if (!is_metric || lowered(of_runs).find(name) == std::string::npos)
    return concat("These logs do not have ", name,
                  is_metric && !of_runs.empty() ? concat("; what they measure is ", of_runs, ".") : ".");
  return concat("These logs do not have ", name, " on the way, only at the end: the table shows it.");
}

bool measures(const Group& group, const std::string& name) {
  return lowered(group.runs[0]->header.metric).find(name) != std::string::npos;
}

/// The one panel that was asked for; groups with another metric have no curve in it.
Panel one_panel(std::span<const Group> groups, const std::string& name, std::vector<std::string>& missing) {
  Panel panel = make_panel(groups, quantity_of(name));
  if (panel.quantity == Quantity::metric) {
    for (std::size_t i = panel.curves.size(); i-- > 0;) {
      if (measures(groups[panel.group[i]], name)) continue;
      panel.curves.erase(panel.curves.begin() + static_cast<std::ptrdiff_t>(i));
      panel.group.erase(panel.group.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  if (panel.curves.empty()) {
    missing.push_back(why_none(groups, name));
    return panel;
  }
  if (panel.quantity == Quantity::metric) panel.title = title_on_the_way(*groups[panel.group[0]].runs[0]);
  std::string without;
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (std::ranges::find(panel.group, g) == panel.group.end())
      without += (without.empty() ? "" : ", ") + groups[g].name;
  if (!without.empty()) missing.push_back(concat("No ", name, " in the logs of ", without, "."));
  return panel;
}

void smooth(Panel& panel, double weight) {
  if (weight <= 0 || is_held(panel.quantity)) return;
  for (Curve& curve : panel.curves)
    for (std::vector<double>* values : {&curve.mean, &curve.low, &curve.high}) smooth(*values, weight);
  panel.title += concat(", smoothed ", weight);
}

}  // namespace

const char* word_of(XAxis axis) {
  return axis == XAxis::step ? "step" : axis == XAxis::epoch ? "epoch" : "seconds";
}

std::string put_against(Panel& panel, std::span<const Group> groups, XAxis axis) {
  if (axis == XAxis::step) return "";
  std::vector<Curve> curves;
  std::vector<std::size_t> group;
  std::string without;
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    Curve curve = against(panel.curves[i], x_by_step(groups[panel.group[i]], axis));
    if (curve.step.empty()) {
      without += (without.empty() ? "" : ", ") + curve.name;
      continue;
    }
    curves.push_back(std::move(curve));
    group.push_back(panel.group[i]);
  }
  panel.curves = std::move(curves);
  panel.group = std::move(group);
  panel.x = word_of(axis);
  return without;
}

double x_at(const Group& group, std::int64_t step, XAxis axis) {
  const auto at = static_cast<double>(step);
  if (axis == XAxis::step) return at;
  const std::map<double, double> x = x_by_step(group, axis);
  const auto next = x.upper_bound(at);
  if (x.empty()) return at;
  return next == x.begin() ? next->second : std::prev(next)->second;
}

std::vector<std::string> curve_names() {
  std::vector<std::string> names = {"loss"};
  names.insert(names.end(), std::begin(metrics), std::end(metrics));
  for (const auto& [name, _] : quantities)
    if (name != names.front()) names.emplace_back(name);
  return names;
}

std::vector<Group> groups_of(std::span<const Run> runs, const RunsView& view) {
  return view.by.empty() ? group_by_recipe(runs) : group_by_field(runs, view.by);
}

std::vector<std::string> draw_view(std::span<const Group> groups, const RunsView& view,
                                   const std::function<void(const Panel&)>& draw) {
  std::vector<std::string> missing;
  const auto finish = [&](Panel panel) {
    if (view.logarithmic && panel.scale == Scale::linear) panel.scale = Scale::decades;
    if (view.x != XAxis::step) change_axis(panel, groups, view.x, missing);
    smooth(panel, view.smooth);
    if (!panel.curves.empty()) draw(panel);
  };
  if (view.metric.empty())
    each_panel(groups, main_quantities, finish);
  else if (!groups.empty())
    finish(one_panel(groups, view.metric, missing));
  return missing;
}

}  // namespace tinymp::report
