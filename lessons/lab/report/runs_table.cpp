#include <lessons/lab/report/mean.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/table.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

// What became of each recipe, in one line.
namespace tinymp::report {
namespace {

/// One figure of a run; NaN where it has none.
using Figure = std::function<double(const Run&)>;

std::vector<double> figures(const Group& group, const Figure& figure) {
  std::vector<double> values;
  for (const Run* run : group.runs) {
    if (const double value = figure(*run); !std::isnan(value)) values.push_back(value);
  }
  return values;
}

double mean(const std::vector<double>& values) {
  Mean mean;
  for (double value : values) mean.add(value);
  return mean.value();
}

double skips(const Run& run) {
  if (run.result) return static_cast<double>(run.result->skipped);
  return run.steps.empty() ? 0 : static_cast<double>(run.steps.back().skips);
}
double final_scale(const Run& run) {
  return run.steps.empty() ? train::not_measured : run.steps.back().scale;
}
double seconds(const Run& run) { return run.result ? run.result->seconds : train::not_measured; }

double peak_bytes(const Run& run) {
  return run.result && run.result->peak_bytes > 0 ? static_cast<double>(run.result->peak_bytes)
                                                  : train::not_measured;
}

/// "93.88" or "93.88 (93.61..94.02)"; a NaN among the seeds makes the mean NaN, as it should.
std::string metric_cell(const Group& group) {
  std::vector<double> values;
  for (const Run* run : group.runs) {
    if (run->result) values.push_back(run->result->value);
  }
  if (values.empty()) return "-";
  const auto by_size = [](double a, double b) { return std::isnan(b) ? !std::isnan(a) : a < b; };
  const auto [low, high] = std::minmax_element(values.begin(), values.end(), by_size);
  const std::string middle = metric_text(mean(values)), first = metric_text(*low), last = metric_text(*high);
  return first == last ? middle : concat(middle, " (", first, "..", last, ")");
}

std::string share_cell(double share) { return std::isnan(share) ? "-" : percent(share); }

/// "7", or "5..9" when the seeds differ.
std::string range_cell(const Group& group, const Figure& figure, std::string (*text)(double)) {
  const std::vector<double> known = figures(group, figure);
  if (known.empty()) return "-";
  const auto [low, high] = std::minmax_element(known.begin(), known.end());
  return *low == *high ? text(*low) : text(*low) + ".." + text(*high);
}

std::string whole(double value) { return short_number(value, 15); }

/// The first step whose loss was not finite. A table of another program may count from 0.
std::optional<std::int64_t> nonfinite_step(const Run& run) {
  const auto logged = std::ranges::find_if(run.steps, [](const auto& r) { return !std::isfinite(r.loss); });
  if (logged != run.steps.end() && logged->step == 0) return 0;
  if (run.result && run.result->first_nonfinite_step > 0) return run.result->first_nonfinite_step;
  if (logged != run.steps.end()) return logged->step;
  return std::nullopt;
}

/// "NaN at step 12", "2 of 3 NaN at step 12..40"; empty when it happened to none.
std::string happened(const std::string& what, const std::vector<std::int64_t>& steps, std::size_t runs) {
  if (steps.empty()) return "";
  const auto [first, last] = std::minmax_element(steps.begin(), steps.end());
  const std::string some = steps.size() < runs ? concat(steps.size(), " of ", runs, " ") : "";
  return some + (*first == *last ? concat(what, " at step ", *first)
                                 : concat(what, " at step ", *first, "..", *last));
}

std::string state_cell(const Group& group) {
  std::vector<std::int64_t> bad, cut;
  for (const Run* run : group.runs) {
    if (const std::optional<std::int64_t> step = nonfinite_step(*run)) bad.push_back(*step);
    if (!run->result) cut.push_back(run->steps.empty() ? 0 : run->steps.back().step);
  }
  const std::string first = happened("NaN", bad, group.runs.size());
  const std::string second = happened("interrupted", cut, group.runs.size());
  if (first.empty() && second.empty()) return "done";
  return first + (first.empty() || second.empty() ? "" : ", ") + second;
}

/// The metric's own name when all runs agree on one.
std::string metric_name(std::span<const Group> groups) {
  std::string name;
  for (const Group& group : groups) {
    const std::string& other = group.runs[0]->header.metric;
    if (!name.empty() && name != other) return "result";
    name = other;
  }
  return name.empty() ? "result" : name;
}

struct Column {
  std::string name;
  Align align;
  std::function<std::string(const Group&)> cell;
  std::string silent;  ///< the cell of a group that has nothing to say; a column of these is left out
};

/// Samples a second, where several processes shared a run: else its time says as much.
std::string throughput_cell(std::span<const Group> all, const Group& group) {
  const auto is_shared = [](const Run* run) { return run->header.ranks > 1; };
  if (std::ranges::none_of(all, [&](const Group& g) { return std::ranges::any_of(g.runs, is_shared); }))
    return "-";
  const double value = mean(figures(group, samples_per_second));
  return std::isnan(value) ? "-" : value < 100 ? short_number(value) : whole(std::round(value));
}

std::vector<Column> columns_for(std::span<const Group> groups) {
  using train::LogRecord;
  const auto lost = [](const Group& group) {
    return share_cell(mean_share(group, [](const LogRecord& r) { return value_of(Quantity::lost, r); }));
  };
  const auto flushed = [](const Group& group) {
    return share_cell(mean_share(group, [](const LogRecord& r) { return r.flushed; }));
  };
  return {
      {"run", Align::left, [](const Group& g) { return g.name; }, ""},
      {metric_name(groups), Align::right, metric_cell, ""},
      {"lost", Align::right, lost, "-"},
      {"flushed", Align::right, flushed, "-"},
      {"skips", Align::right, [](const Group& g) { return range_cell(g, skips, whole); }, "0"},
      {"final S", Align::right, [](const Group& g) { return range_cell(g, final_scale, scale_text); }, "1"},
      {"time", Align::right,
       [](const Group& g) {
         const double value = mean(figures(g, seconds));
         return std::isnan(value) ? std::string("-") : duration(value);
       },
       "-"},
      {"samples/s", Align::right, [groups](const Group& g) { return throughput_cell(groups, g); }, "-"},
      {"peak", Align::right,
       [](const Group& g) {
         const double value = mean(figures(g, peak_bytes));
         return std::isnan(value) ? std::string("-") : bytes_text(value);
       },
       "-"},
      {"state", Align::left, state_cell, ""}};
}

}  // namespace

Table groups_table(std::span<const Group> groups) {
  Table table;
  table.rows.resize(groups.size());
  for (const Column& column : columns_for(groups)) {
    std::vector<std::string> cells;
    for (const Group& group : groups) cells.push_back(column.cell(group));
    const bool silent =
        std::all_of(cells.begin(), cells.end(), [&](auto& cell) { return cell == column.silent; });
    if (silent && !cells.empty()) continue;
    table.header.push_back(column.name);
    table.align.push_back(column.align);
    for (std::size_t i = 0; i < cells.size(); ++i) table.rows[i].push_back(std::move(cells[i]));
  }
  return table;
}

Table runs_table(std::span<const Run> runs) { return groups_table(group_by_recipe(runs)); }

}  // namespace tinymp::report
