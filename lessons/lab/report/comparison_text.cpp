#include <fmt/format.h>

#include <lessons/lab/report/comparison.h>
#include <lessons/lab/report/number.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>

// A comparison as a table for the terminal. As CSV and JSON: comparison_files.cpp.
namespace tinymp::report {
namespace {

/// "93.88 (93.61..94.02)"; "-" where nothing is known.
std::string final_cell(const Compared& row) {
  if (!row.final) return "-";
  const std::string middle = metric_text(*row.final);
  if (!row.smallest) return middle;
  const std::string first = metric_text(*row.smallest), last = metric_text(*row.largest);
  return first == last ? middle : concat(middle, " (", first, "..", last, ")");
}

std::string cell(const std::optional<double>& value) { return value ? metric_text(*value) : "-"; }

/// What is left of a difference of equal values of the size of `beside` is rounding.
std::string with_sign(double value, const std::optional<double>& beside) {
  if (std::abs(value) < 1e-12 * std::abs(beside.value_or(0))) return "0";
  const std::string text = short_number(value, 3);
  return value > 0 ? "+" + text : text;
}

std::string difference_cell(const Compared& row) {
  if (row.is_baseline) return "baseline";
  return row.difference ? with_sign(row.difference->mean, row.final) : "-";
}

std::string interval_cell(const Compared& row) {
  if (!row.difference || !row.difference->low) return row.is_baseline ? "" : "-";
  const double low = *row.difference->low, high = *row.difference->high;
  const double larger = std::max(std::abs(low), std::abs(high));
  if (!(larger >= 1e-4 && larger < 1e3) || low == high)
    return concat(with_sign(low, row.final), "..", with_sign(high, row.final));
  int decimals = 2;  // of both bounds: three digits of the larger
  for (double left = larger; left >= 10 && decimals > 0; left /= 10) --decimals;
  for (double left = larger; left < 1; left *= 10) ++decimals;
  const double smaller = std::min(std::abs(low), std::abs(high));
  const auto rounds_to_0 = [&] {
    return fmt::format("{:.{}f}", smaller, decimals).find_first_not_of("0.") == std::string::npos;
  };
  while (smaller > 0 && decimals < 12 && rounds_to_0())
    ++decimals;  // on which side of 0 a bound lies matters
  return fmt::format("{:+.{}f}..{:+.{}f}", low, decimals, high, decimals);
}

std::string pairs_cell(const Compared& row) {
  if (row.is_baseline) return "";
  return concat(row.difference ? row.difference->pairs : 0);
}

/// A text has no test set.
std::string best_and_final(const std::string& measure) {
  if (measure == "training loss") return "best: the smallest training loss on the way.";
  if (measure == "validation loss")
    return "best: the smallest on the way, which ./learn train measures on the first 8,192 tokens of the "
           "validation text; final: at the end, on all of it.";
  return concat(
      "best: the best on the way, which ./learn train measures on the validation data; final: at the end, on "
      "the test set",
      measure == "result" ? ", and of a text on all of its validation data." : ".");
}

}  // namespace

bool says_more(const Comparison& comparison, const RunsView& view) {
  const auto has_best = [](const Compared& row) { return row.best.has_value(); };
  return !comparison.baseline.empty() || view.metric == "loss" ||
         std::ranges::any_of(comparison.groups, has_best);
}

std::string comparison_title(const Comparison& comparison) {
  return comparison.measure + (comparison.baseline.empty() ? "" : " against " + comparison.baseline);
}

Table comparison_table(const Comparison& comparison) {
  constexpr Align left = Align::left, right = Align::right;
  const auto& groups = comparison.groups;
  const bool has_best = std::ranges::any_of(groups, [](const Compared& row) { return row.best.has_value(); });
  Table table{{"run", "final"}, {left, right}, {}};
  if (has_best) {
    table.header.emplace_back("best");
    table.align.push_back(right);
  }
  if (!comparison.baseline.empty()) {
    table.header.insert(table.header.end(), {"diff", "95 % interval", "n"});
    table.align.insert(table.align.end(), {right, right, right});
  }
  for (const Compared& row : groups) {
    std::vector<std::string>& cells =
        table.rows.emplace_back(std::vector<std::string>{row.name, final_cell(row)});
    if (has_best) cells.push_back(cell(row.best));
    if (!comparison.baseline.empty())
      cells.insert(cells.end(), {difference_cell(row), interval_cell(row), pairs_cell(row)});
  }
  return table;
}

std::string comparison_note(const Comparison& comparison) {
  std::string note;
  if (std::ranges::any_of(comparison.groups, [](const Compared& row) { return row.best.has_value(); }))
    note = best_and_final(comparison.measure);
  if (comparison.repeats > 0 && !comparison.baseline.empty())
    note += concat(note.empty() ? "" : " ",
                   "Repeats of a run with its seed and result are no further pair: ", comparison.repeats,
                   " left out.");
  for (const Compared& row : comparison.groups)
    if (!row.mixed.empty())
      note += concat(note.empty() ? "" : " ", row.name,
                     " mixes runs that differ in more than the seed: ", row.mixed, ".");
  if (comparison.baseline.empty()) return note;
  return concat(
      note, note.empty() ? "" : " ", "diff: ", comparison.measure, " minus that of ", comparison.baseline,
      " with the same seed, the mean over n pairs. Its interval is Student's: where it contains 0, these "
      "runs show no difference.");
}

}  // namespace tinymp::report
