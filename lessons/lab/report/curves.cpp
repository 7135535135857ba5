#include <lessons/lab/report/curves.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/spread.h>
#include <tinymp/base/error.h>
#include <tinymp/train/provenance.h>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tinymp::report {
namespace {

/// What may tell groups of the same name apart, the most telling first.
std::vector<std::string> traits(const train::RunHeader& h) {
  const std::string own = train::learner_pieces(h.pieces);
  return {own.empty() ? "" : "YOURS: " + own,
          describe(h.recipe),
          h.optimizer,
          h.model,
          h.data,
          concat("batch ", describe_batch(h)),
          h.recompute.empty() ? "" : "recompute " + h.recompute,
          concat(h.steps, " steps"),
          h.question,
          h.metric,
          h.device,
          "commit " + h.commit};
}

/// Adds, to groups that share a name, traits in which they differ, until their names do: "FP32 (batch 64, 200 steps)".
void tell_apart(std::vector<Group>& groups) {
  if (groups.empty()) return;
  std::vector<std::vector<std::string>> all;
  for (const Group& group : groups) all.push_back(traits(group.runs[0]->header));
  std::vector<std::string> told(groups.size());
  for (std::size_t trait = 0; trait < all[0].size(); ++trait) {
    std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> alike;
    for (std::size_t i = 0; i < groups.size(); ++i) alike[{groups[i].name, told[i]}].push_back(i);
    for (const auto& [name, members] : alike) {
      const std::string& first = all[members[0]][trait];
      const auto differs = [&](std::size_t i) { return all[i][trait] != first; };
      if (std::ranges::none_of(members, differs)) continue;
      for (const std::size_t i : members)
        if (const std::string& what = all[i][trait]; !what.empty())
          told[i] += concat(told[i].empty() ? "" : ", ", what);
    }
  }
  for (std::size_t i = 0; i < groups.size(); ++i)
    if (!told[i].empty()) groups[i].name += concat(" (", told[i], ")");
}

/// The points of all runs, by step. Most runs have the same steps, so that a run rarely adds points.
class Points {
 public:
  /// Adds the steps of a run, which go up.
  void add(const Run& run, Quantity quantity) {
    std::size_t at = 0;
    const std::size_t known = all_.size();
    for (const auto& record : run.steps) {
      const double value = value_of(quantity, record);
      // What was measured and is NaN is a gap; what was not measured is nothing.
      const bool shows_nan =
          quantity == Quantity::loss || quantity == Quantity::validation_loss || quantity == Quantity::metric;
      if (std::isnan(value) && !(shows_nan && train::is_measured(value))) continue;
      while (at < known && all_[at].first < record.step) ++at;
      const bool is_new = at == known || all_[at].first != record.step;
      if (is_new) all_.emplace_back(record.step, Spread{});
      (is_new ? all_.back() : all_[at]).second.add(value, quantity);
    }
    std::ranges::inplace_merge(all_, all_.begin() + static_cast<std::ptrdiff_t>(known), {},
                               &std::pair<std::int64_t, Spread>::first);
  }
  const std::vector<std::pair<std::int64_t, Spread>>& all() const { return all_; }

 private:
  std::vector<std::pair<std::int64_t, Spread>> all_;
};

/// Where the loss of one seed leaves the finite numbers for good.
void find_end(const Run& run, std::vector<CurveEnd>& ends) {
  const auto& steps = run.steps;
  if (steps.empty() || std::isfinite(steps.back().loss)) return;
  std::size_t first_bad = steps.size();
  while (first_bad > 0 && !std::isfinite(steps[first_bad - 1].loss)) --first_bad;
  std::int64_t bad_step = steps[first_bad].step, finite_step = 0;
  CurveEnd end{0, train::not_measured, 0, run.header.seed};
  if (first_bad > 0) {
    finite_step = steps[first_bad - 1].step;
    end.step = static_cast<double>(finite_step);
    end.value = steps[first_bad - 1].loss;
  }
  // The loop looks at every loss, the log holds one in so many.
  if (run.result && run.result->first_nonfinite_step > finite_step)
    bad_step = run.result->first_nonfinite_step;
  end.nonfinite_step = static_cast<double>(bad_step);
  ends.push_back(end);
}

/// The two mechanisms apart, where enough was lost to ask how.
std::string lost_how(const Group& group) {
  const double underflowed = mean_share(group, [](const train::LogRecord& r) { return r.underflowed; });
  const double absorbed = mean_share(group, [](const train::LogRecord& r) { return r.absorbed; });
  if (!(underflowed + absorbed >= 0.05)) return "";  // NaN, too
  return percent(underflowed) + " underflowed, " + percent(absorbed) + " absorbed";
}

}  // namespace

std::string without_pieces(const std::string& name) {
  const std::size_t mark = name.find(" (YOURS: ");
  if (mark == std::string::npos) return name;
  const std::size_t end = std::min(name.find(')', mark), name.size() - 1);
  return name.substr(0, mark) + name.substr(end + 1);
}

std::vector<Group> group_by_recipe(std::span<const Run> runs) {
  std::vector<Group> groups;
  std::map<std::pair<std::string, std::vector<std::string>>, std::vector<std::size_t>> alike;
  for (const Run& run : runs) {
    const train::RunHeader& header = run.header;
    std::vector<std::size_t>& candidates = alike[{header.name, traits(header)}];
    const auto same = std::ranges::find_if(
        candidates, [&](std::size_t i) { return groups[i].runs[0]->header.recipe == header.recipe; });
    if (same != candidates.end()) {
      groups[*same].runs.push_back(&run);
      continue;
    }
    candidates.push_back(groups.size());
    groups.push_back({header.name.empty() ? describe(header.recipe) : header.name, {&run}});
  }
  tell_apart(groups);
  return groups;
}

double value_of(Quantity quantity, const train::LogRecord& record) {
  switch (quantity) {
    case Quantity::loss:
      return record.loss;
    case Quantity::scale:
      return record.scale;
    case Quantity::flushed:
      return record.flushed;
    case Quantity::grad_norm:
      return record.grad_norm;
    case Quantity::metric:
      return record.metric;
    case Quantity::validation_loss:
      return record.validation_loss;
    case Quantity::skips:
      return static_cast<double>(record.skips);
    case Quantity::lr:
      return record.lr;
    case Quantity::lost:
      break;
  }
  // An FP32 master absorbs but never underflows, say: what was not measured adds nothing.
  if (std::isnan(record.underflowed)) return record.absorbed;
  return std::isnan(record.absorbed) ? record.underflowed : record.underflowed + record.absorbed;
}

double mean_share(const Group& group, double (*share)(const train::LogRecord&)) {
  Spread runs;
  for (const Run* run : group.runs) {
    Spread steps;
    for (const auto& record : run->steps) steps.add(share(record), Quantity::lost);
    runs.add(steps.mean(Quantity::lost), Quantity::lost);
  }
  return runs.mean(Quantity::lost);
}

Curve make_curve(const Group& group, Quantity quantity) {
  Points points;
  Curve curve{.name = group.name};
  std::set<std::uint64_t> seeds;  // the same seed may have been run twice
  for (const Run* run : group.runs) {
    seeds.insert(run->header.seed);
    points.add(*run, quantity);
    if (quantity == Quantity::loss) find_end(*run, curve.ends);
  }
  curve.seeds = seeds.size();
  if (quantity == Quantity::lost) curve.note = lost_how(group);
  for (std::vector<double>* values : {&curve.step, &curve.mean, &curve.low, &curve.high})
    values->reserve(points.all().size());
  for (const auto& [step, point] : points.all()) {
    curve.step.push_back(static_cast<double>(step));
    curve.mean.push_back(point.mean(quantity));
    curve.low.push_back(point.values.count() > 0 ? point.low : train::not_measured);
    curve.high.push_back(point.values.count() > 0 ? point.high : train::not_measured);
  }
  return curve;
}

std::string ends_text(const Curve& curve) {
  std::set<std::uint64_t> seeds;
  for (const CurveEnd& end : curve.ends) seeds.insert(end.seed);
  const auto [first, last] = std::ranges::minmax_element(curve.ends, {}, &CurveEnd::nonfinite_step);
  std::string text = "step " + short_number(first->nonfinite_step, 15);
  if (first->nonfinite_step != last->nonfinite_step) text += ".." + short_number(last->nonfinite_step, 15);
  if (curve.seeds > 1) text += concat(" (", seeds.size(), " of ", curve.seeds, " seeds)");
  return text;
}

}  // namespace tinymp::report
