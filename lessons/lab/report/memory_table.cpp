#include <lessons/lab/report/mean.h>
#include <lessons/lab/report/memory_table.h>
#include <lessons/lab/report/number.h>
#include <lessons/lab/report/run_fields.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace tinymp::report {
namespace {

using train::MemoryBytes;

struct Kind {
  const char* name;
  bool has_column;  ///< in a table of 80 columns; else it is in that of the kind before it
  std::int64_t MemoryBytes::*bytes;
  double MemoryFigures::*mean;
};

constexpr Kind kinds[] = {
    {"weights", true, &MemoryBytes::weights, &MemoryFigures::weights},
    {"masters", true, &MemoryBytes::masters, &MemoryFigures::masters},
    {"optimizer", true, &MemoryBytes::optimizer, &MemoryFigures::optimizer},
    {"gradients", true, &MemoryBytes::gradients, &MemoryFigures::gradients},
    {"activations", true, &MemoryBytes::activations, &MemoryFigures::activations},
    {"workspace", true, &MemoryBytes::workspace, &MemoryFigures::workspace},
    {"scratch", false, &MemoryBytes::scratch, &MemoryFigures::scratch},
};

bool is_measured(const Run& run) {
  return run.result && run.result->peak_bytes > 0 && run.result->memory != MemoryBytes{};
}

struct Measured {
  const Group* group;
  MemoryFigures figures;
};

std::vector<Measured> measured(std::span<const Group> groups) {
  std::vector<Measured> found;
  for (const Group& group : groups)
    if (const std::optional<MemoryFigures> figures = memory_of(group)) found.push_back({&group, *figures});
  return found;
}

/// kB, MB or GB, with its bytes.
std::pair<const char*, double> unit_of(const std::vector<Measured>& groups) {
  double most = 0;
  for (const Measured& group : groups) most = std::max(most, group.figures.peak);
  if (most < 1e6) return {"kB", 1e3};
  return most < 1e9 ? std::pair{"MB", 1e6} : std::pair{"GB", 1e9};
}

std::string cell(double bytes, double unit) { return bytes == 0 ? "-" : fixed_digits(bytes / unit, 3); }

bool is_fp32(const Measured& row) { return run_field(*row.group->runs.front(), "recipe") == "fp32"; }

const train::RunHeader& header_of(const Measured& row) { return row.group->runs.front()->header; }

/// What the bytes depend on, besides the recipe, micro-batches and recomputation; the learning rate is not of it.
bool is_same_training(const Measured& one, const Measured& other) {
  const train::RunHeader &a = header_of(one), &b = header_of(other);
  const auto kind = [](const std::string& optimizer) { return optimizer.substr(0, optimizer.find(' ')); };
  return a.model == b.model && a.samples() == b.samples() && kind(a.optimizer) == kind(b.optimizer);
}

bool is_same_recipe(const Measured& one, const Measured& other) {
  return run_field(*one.group->runs.front(), "recipe") == run_field(*other.group->runs.front(), "recipe");
}

std::string times(double ratio) {
  const std::string text = short_number(ratio, 3);
  return text == "1" ? "as many bytes as FP32's" : concat(text, " times the bytes of FP32's");
}

/// The activations and the peak of a group beside another, whose model's state is the same.
std::string beside(const std::string& how, const char* than, const Measured& row, const Measured& other) {
  const auto ratio = [](double of, double whole) { return short_number(of / whole, 3); };
  return concat(how, " the activations take ", ratio(row.figures.activations, other.figures.activations),
                " times the bytes of those ", than, ", and the peak is ",
                ratio(row.figures.peak, other.figures.peak), " times as large.");
}

std::string beside_fp32(const Measured& row, const Measured& wide) {
  const double state = row.figures.state() / wide.figures.state();
  return concat("the state (weights, masters, optimizer, gradients) takes ", times(state),
                state >= 1 ? ", so it does not shrink" : "", "; the activations take ",
                times(row.figures.activations / wide.figures.activations), ", and the peak is ",
                short_number(row.figures.peak / wide.figures.peak, 3), " times FP32's.");
}

/// One sentence of a row beside another, where the two differ in one thing alone; else empty.
std::string beside(const Measured& row, const Measured& other) {
  const train::RunHeader &a = header_of(row), &b = header_of(other);
  if (!is_same_training(row, other)) return "";
  if (other.figures.state() == 0 || other.figures.activations == 0) return "";  // a log of another program
  const bool same_recipe = is_same_recipe(row, other), same_parts = a.micro_batches == b.micro_batches,
             same_blocks = a.recompute == b.recompute;
  if (same_parts && same_blocks && is_fp32(other) && !is_fp32(row)) return beside_fp32(row, other);
  if (same_recipe && same_parts && b.recompute.empty() && !a.recompute.empty())
    return beside("recomputed,", "without", row, other);
  if (same_recipe && same_blocks && b.micro_batches == 1 && a.micro_batches > 1)
    return beside(concat("in ", a.micro_batches, " micro-batches"), "in one batch", row, other);
  return "";
}

/// How the groups compare with one another, those of which the same holds together.
std::string beside_each_other(const std::vector<Measured>& rows) {
  std::vector<std::pair<std::string, std::string>> said;  // sentences, each with the names that it holds for
  for (const Measured& row : rows) {
    for (const Measured& other : rows) {
      const std::string sentence = beside(row, other);
      if (sentence.empty()) continue;
      const auto same = std::ranges::find(
          said, sentence, [](const auto& one) -> const auto& { return one.first; });
      if (same == said.end())
        said.emplace_back(sentence, row.group->name);
      else if (!same->second.ends_with(row.group->name))
        same->second += "; " + row.group->name;
    }
  }
  std::string text;
  for (const auto& [sentence, names] : said) text += concat(" ", names, ": ", sentence);
  return text;
}

}  // namespace

std::optional<MemoryFigures> memory_of(const Group& group) {
  Mean peak, means[std::size(kinds)];
  for (const Run* run : group.runs) {
    if (!is_measured(*run)) continue;
    peak.add(static_cast<double>(run->result->peak_bytes));
    for (std::size_t i = 0; i < std::size(kinds); ++i)
      means[i].add(static_cast<double>(run->result->memory.*kinds[i].bytes));
  }
  if (peak.count() == 0) return std::nullopt;
  MemoryFigures figures{.peak = peak.value()};
  for (std::size_t i = 0; i < std::size(kinds); ++i) figures.*kinds[i].mean = means[i].value();
  return figures;
}

Table memory_table(std::span<const Group> groups) {
  Table table;
  const std::vector<Measured> rows = measured(groups);
  if (rows.empty()) return table;
  const double unit = unit_of(rows).second;
  table = {{"run"}, {Align::left}, {}};
  for (const Kind& kind : kinds)
    if (kind.has_column) table.header.emplace_back(kind.name);
  table.header.emplace_back("peak");
  table.align.resize(table.header.size(), Align::right);
  for (const Measured& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back(std::vector{row.group->name});
    double bytes = 0;
    for (const Kind* kind = std::begin(kinds); kind != std::end(kinds); ++kind) {
      bytes += row.figures.*kind->mean;
      if (const Kind* const next = kind + 1; next != std::end(kinds) && !next->has_column) continue;
      cells.push_back(cell(std::exchange(bytes, 0), unit));
    }
    cells.push_back(cell(row.figures.peak, unit));
  }
  return table;
}

std::string memory_note(std::span<const Group> groups) {
  const std::vector<Measured> rows = measured(groups);
  if (rows.empty()) return "";
  return concat(
      "In ", unit_of(rows).first,
      ", measured in the steps: the most of each kind, and of their sum (peak). Optimizer: its moments, and "
      "all else that it keeps. Activations: what forward leaves for backward, autocast's copies of weights "
      "among it. Workspace: the batch, temporaries of an op, and what kernels took while they ran (scratch).",
      beside_each_other(rows));
}

std::string memory_line(const train::RunResult& result) {
  if (result.peak_bytes <= 0 || result.memory == MemoryBytes{}) return "";
  std::string text = concat("at most ", bytes_text(static_cast<double>(result.peak_bytes)));
  const char* between = ": ";
  for (const Kind& kind : kinds) {
    const std::int64_t bytes = result.memory.*kind.bytes;
    if (bytes == 0) continue;
    text += concat(between, kind.name, " ", bytes_text(static_cast<double>(bytes)));
    between = ", ";
  }
  return text;
}

}  // namespace tinymp::report
