#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/mean.h>
#include <lessons/lab/report/run_fields.h>
#include <lessons/lab/report/student_t.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

namespace tinymp::report {
namespace {

using train::LogRecord;
using Figure = std::function<std::optional<double>(const Run&)>;

/// Final and best value of a run, as the view wants them.
struct Measure {
  bool is_loss = false;

  std::optional<double> final(const Run& run) const {
    if (!is_loss) return run.result ? std::optional(run.result->value) : std::nullopt;
    return run.steps.empty() ? std::nullopt : std::optional(run.steps.back().loss);
  }
  /// The best of two or more values on the way: losses of the training data, or the metric on the validation data. The
  /// result on the test set is none of them: choosing by it would spoil it. One value alone tells nothing of the way.
  std::optional<double> best(const Run& run) const {
    const bool higher = !is_loss && run.header.higher_is_better;
    std::optional<double> found;
    std::size_t count = 0;
    const auto take = [&](double value) {
      if (!std::isfinite(value)) return;
      ++count;
      if (!found || (higher ? value > *found : value < *found)) found = value;
    };
    for (const LogRecord& record : run.steps) take(is_loss ? record.loss : record.metric);
    return count < 2 ? std::nullopt : found;
  }
};

std::vector<double> values_of(const Group& group, const Figure& figure) {
  std::vector<double> values;
  for (const Run* run : group.runs)
    if (const std::optional<double> value = figure(*run)) values.push_back(*value);
  return values;
}

std::optional<double> mean_of(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  if (std::ranges::all_of(values, [&](double value) { return value == values[0]; })) return values[0];
  Mean mean;
  for (const double value : values) mean.add(value);
  return mean.value();
}

std::optional<double> mean_of(const Group& group, const Figure& figure) {
  return mean_of(values_of(group, figure));
}

std::optional<double> known(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }

std::optional<double> skips(const Run& run) {
  if (run.result) return static_cast<double>(run.result->skipped);
  return run.steps.empty() ? std::nullopt : std::optional(static_cast<double>(run.steps.back().skips));
}
std::optional<double> seconds(const Run& run) {
  return run.result ? known(run.result->seconds) : std::nullopt;
}
std::optional<double> peak(const Run& run) {
  const bool measured = run.result && run.result->peak_bytes > 0;
  return measured ? std::optional(static_cast<double>(run.result->peak_bytes)) : std::nullopt;
}

/// Different values of a field in order of appearance, joined.
std::string joined(const Group& group, std::string_view field, const char* between) {
  std::vector<std::string> different;
  for (const Run* run : group.runs) {
    std::string value = run_field(*run, field);
    if (!value.empty() && std::ranges::find(different, value) == different.end())
      different.push_back(std::move(value));
  }
  std::string text;
  for (std::size_t i = 0; i < different.size(); ++i) text += (i == 0 ? "" : between) + different[i];
  return text;
}

bool is_same_text(const std::string& a, const std::string& b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::ranges::equal(a, b, {}, lower, lower);
}

/// None where the text is the name of something, "FP16, S = 1" say.
std::vector<Condition> conditions_in(const std::string& text) {
  try {
    return conditions_from(text);
  } catch (const UsageError&) {
    return {};
  }
}

/// The runs of the baseline: a group by its name, else a run by its name, with or without the mark of a learner's pieces, or
/// path, else a recipe, else FIELD=VALUE.
std::vector<const Run*> baseline_runs(std::span<const Group> groups, const std::string& wanted) {
  for (const Group& group : groups)
    if (is_same_text(group.name, wanted)) return group.runs;
  const std::vector<Condition> conditions = conditions_in(wanted);
  const std::vector<std::function<bool(const Run&)>> ways = {
      [&](const Run& run) { return run.path == wanted || run_name(run) == wanted; },
      [&](const Run& run) { return is_same_text(run.header.name, wanted); },
      [&](const Run& run) { return is_same_text(without_pieces(run.header.name), wanted); },
      [&](const Run& run) {
        return fits(run, {"recipe", wanted});
      },
      [&](const Run& run) {
        return !conditions.empty() &&
               std::ranges::all_of(conditions, [&](const Condition& one) { return fits(run, one); });
      }};
  std::vector<const Run*> found;
  for (const auto& is_meant : ways) {
    for (const Group& group : groups)
      std::ranges::copy_if(group.runs, std::back_inserter(found),
                           [&](const Run* run) { return is_meant(*run); });
    if (!found.empty()) break;
  }
  return found;
}

/// In how many ways two runs of the same seed are alike.
int likeness(const Run& a, const Run& b) {
  int count = 0;
  for (const char* const field : {"recipe", "model", "data", "optimizer", "steps", "batch", "micro_batches"})
    count += run_field(a, field) == run_field(b, field) ? 1 : 0;
  return count;
}

bool can_pair(const Run& a, const Run& b, const Measure& measure) {
  const bool same_measure = measure.is_loss || a.header.metric == b.header.metric;
  return same_measure && a.has_seed && b.has_seed && a.header.seed == b.header.seed;
}

/// Each run once. A run that was repeated with its seed ends where it ended before: that is no further evidence.
std::vector<const Run*> without_repeats(const std::vector<const Run*>& runs, const Measure& measure) {
  const auto repeats = [&](const Run* a, const Run* b) {
    return can_pair(*a, *b, measure) && likeness(*a, *b) == likeness(*a, *a) &&
           measure.final(*a) == measure.final(*b);
  };
  std::vector<const Run*> once;
  for (const Run* run : runs)
    if (std::ranges::none_of(once, [&](const Run* other) { return repeats(run, other); }))
      once.push_back(run);
  return once;
}

/// run - baseline, for each run that has a partner with its seed.
std::vector<double> paired_differences(const Group& group, std::vector<const Run*> baseline,
                                       const Measure& measure) {
  std::vector<double> differences;
  for (const Run* run : without_repeats(group.runs, measure)) {
    auto partner = baseline.end();
    for (auto other = baseline.begin(); other != baseline.end(); ++other) {
      if (*other == run || !can_pair(*run, **other, measure)) continue;
      if (partner == baseline.end() || likeness(**other, *run) > likeness(**partner, *run)) partner = other;
    }
    if (partner == baseline.end()) continue;
    const std::optional<double> mine = measure.final(*run), theirs = measure.final(**partner);
    if (mine && theirs) differences.push_back(*mine - *theirs);
    baseline.erase(partner);
  }
  return differences;
}

std::string mixed_in(const Group& group) {
  std::string fields;
  for (const char* const field :
       {"recipe", "model", "data", "optimizer", "steps", "batch", "micro_batches", "recompute"}) {
    const std::string first = run_field(*group.runs[0], field);
    if (std::ranges::any_of(group.runs, [&](const Run* run) { return run_field(*run, field) != first; }))
      fields += concat(fields.empty() ? "" : ", ", field);
  }
  return fields;
}

Compared figures_of(const Group& group, const Measure& measure) {
  Compared row{.name = group.name};
  row.recipe = joined(group, "recipe", "; ");
  row.model = joined(group, "model", "; ");
  row.data = joined(group, "data", "; ");
  row.seeds = joined(group, "seed", " ");
  row.lr = joined(group, "lr", " ");
  row.mixed = mixed_in(group);
  const std::vector<double> finals = values_of(group, [&](const Run& run) { return measure.final(run); });
  row.final = mean_of(finals);
  if (!finals.empty() && std::ranges::none_of(finals, [](double value) { return std::isnan(value); })) {
    row.smallest = *std::ranges::min_element(finals);
    row.largest = *std::ranges::max_element(finals);
  }
  row.best = mean_of(group, [&](const Run& run) { return measure.best(run); });
  row.skips = mean_of(group, skips);
  row.seconds = mean_of(group, seconds);
  row.peak_bytes = mean_of(group, peak);
  row.memory = memory_of(group);
  row.lost = known(mean_share(group, [](const LogRecord& r) { return value_of(Quantity::lost, r); }));
  row.flushed = known(mean_share(group, [](const LogRecord& r) { return r.flushed; }));
  return row;
}

std::string measure_name(std::span<const Group> groups, bool is_loss) {
  if (is_loss) return "training loss";
  std::string name;
  for (const Group& group : groups) {
    for (const Run* run : group.runs) {
      if (!name.empty() && name != run->header.metric) return "result";
      name = run->header.metric;
    }
  }
  return name.empty() ? "result" : name;
}

}  // namespace

Difference difference_of(std::span<const double> differences) {
  const std::size_t n = differences.size();
  expect(n > 0, "a difference takes a pair of runs or more");
  Difference found{.pairs = n, .mean = *mean_of(differences)};
  if (n < 2) return found;
  double squares = 0;
  for (const double value : differences) squares += (value - found.mean) * (value - found.mean);
  const double count = static_cast<double>(n);
  const double half =
      t_within_95(static_cast<std::int64_t>(n) - 1) * std::sqrt(squares / (count - 1) / count);
  found.low = found.mean - half;
  found.high = found.mean + half;
  return found;
}

Comparison compare_groups(std::span<const Group> groups, const RunsView& view) {
  const Measure measure{.is_loss = view.metric == "loss"};
  Comparison comparison{
      .measure = measure_name(groups, measure.is_loss), .baseline = "", .groups = {}, .repeats = 0};
  const std::vector<const Run*> baseline =
      view.against.empty() ? std::vector<const Run*>{} : baseline_runs(groups, view.against);
  const std::vector<const Run*> baseline_once = without_repeats(baseline, measure);
  // A recipe that was trained with several learning rates is a baseline of several groups: each group is compared with
  // the likest, and they are not with one another.
  const auto is_of_baseline = [&](const Run* run) {
    return std::ranges::find(baseline, run) != baseline.end();
  };
  for (const Group& group : groups) {
    Compared row = figures_of(group, measure);
    row.is_baseline = std::ranges::all_of(group.runs, is_of_baseline);
    if (row.is_baseline) comparison.baseline = comparison.baseline.empty() ? group.name : view.against;
    if (const std::vector<double> pairs = paired_differences(group, baseline_once, measure);
        !row.is_baseline && !pairs.empty())
      row.difference = difference_of(pairs);
    comparison.repeats += group.runs.size() - without_repeats(group.runs, measure).size();
    comparison.groups.push_back(std::move(row));
  }
  if (!baseline.empty() && comparison.baseline.empty()) comparison.baseline = view.against;
  return comparison;
}

void expect_baseline(std::span<const std::vector<Group>> questions, const RunsView& view) {
  if (view.against.empty()) return;
  std::string there;
  for (const std::vector<Group>& groups : questions) {
    if (!baseline_runs(groups, view.against).empty()) return;
    for (const Group& group : groups) there += (there.empty() ? "" : "; ") + excerpt(group.name, 60);
  }
  throw UsageError(concat("--against ", excerpt(view.against),
                          ": no group, run or recipe has that name; there are ", excerpt(there, 600)));
}

}  // namespace tinymp::report
