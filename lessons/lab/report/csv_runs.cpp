#include <lessons/lab/report/csv.h>
#include <lessons/lab/report/csv_number.h>
#include <lessons/lab/report/csv_runs.h>
#include <tinymp/base/error.h>
#include <tinymp/base/foreign_text.h>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <utility>

namespace tinymp::report {

const char* const columns_of_a_table =
    "A table (*.csv) has a header with the columns step (or epoch) and loss, and a\n"
    "row a step. It may have accuracy, mse, perplexity, scale, skipped, skips, lr,\n"
    "zero, subnormal, flushed, underflowed, absorbed, grad_norm, epoch, seconds,\n"
    "validation_loss, peak_bytes. The columns run, recipe, model, data, seed and\n"
    "optimizer tell its runs apart.";

namespace {

using train::LogRecord;
using train::Run;

constexpr std::size_t most_runs = 10'000, most_steps = 10'000'000, longest_text = 200;

/// Other words for the columns, as Lightning, Keras and others write them.
constexpr std::array<std::pair<const char*, const char*>, 23> other_words = {
    {{"iteration", "step"},
     {"iter", "step"},
     {"global_step", "step"},
     {"train_loss", "loss"},
     {"train/loss", "loss"},
     {"training_loss", "loss"},
     {"acc", "accuracy"},
     {"val_accuracy", "accuracy"},
     {"val_acc", "accuracy"},
     {"test_accuracy", "accuracy"},
     {"val_mse", "mse"},
     {"test_mse", "mse"},
     {"ppl", "perplexity"},
     {"val_perplexity", "perplexity"},
     {"loss_scale", "scale"},
     {"learning_rate", "lr"},
     {"gradient_norm", "grad_norm"},
     {"time", "seconds"},
     {"wall_time", "seconds"},
     {"name", "run"},
     {"dataset", "data"},
     {"val_loss", "validation_loss"},
     {"peak_memory", "peak_bytes"}}};

constexpr std::array metrics = {"accuracy", "mse", "perplexity"};

/// What a step may have besides its loss, and where it goes.
constexpr std::array<std::pair<const char*, double LogRecord::*>, 11> sampled = {
    {{"lr", &LogRecord::lr},
     {"zero", &LogRecord::zero},
     {"subnormal", &LogRecord::subnormal},
     {"flushed", &LogRecord::flushed},
     {"underflowed", &LogRecord::underflowed},
     {"absorbed", &LogRecord::absorbed},
     {"grad_norm", &LogRecord::grad_norm},
     {"epoch", &LogRecord::epoch},
     {"seconds", &LogRecord::seconds},
     {"validation_loss", &LogRecord::validation_loss},
     {"metric", &LogRecord::metric}}};

/// The header: which column is which.
class Columns {
 public:
  Columns(const std::vector<std::string>& header, const std::string& place, const std::string& metric) {
    for (std::size_t i = 0; i < header.size(); ++i) {
      std::string name = lowered(header[i]);
      name.erase(0, name.find_first_not_of(" \t"));
      name.erase(name.find_last_not_of(" \t") + 1);
      at_.emplace(name, i);  // of two columns of one name the first counts
    }
    at_.erase("metric");  // our own name for the one that is chosen below
    for (const auto& [word, usual] : other_words) {
      const std::string_view name(word);
      if (!at_.contains(word)) continue;
      // Beside "val_accuracy" a column "accuracy" is that of the training batches.
      if (name.starts_with("val_") || name.starts_with("test_")) at_[usual] = at_.at(word);
      at_.emplace(usual, at_.at(word));
    }
    if (!at_.contains("step") && at_.contains("epoch")) at_.emplace("step", at_.at("epoch"));
    for (const char* const needed : {"step", "loss"}) {
      if (at_.contains(needed)) continue;
      std::string there;
      for (const std::string& name : header) there += (there.empty() ? "" : ", ") + excerpt(name, 40);
      throw Error(
          concat(place, ": the header names no column \"", needed, "\"; it has ", excerpt(there, 300),
                 header.size() == 1 ? "; columns are separated by commas, and the text is UTF-8" : ""));
    }
    for (const char* const name : metrics)
      if (metric_.empty() && at_.contains(name) && (metric.empty() || metric == name)) metric_ = name;
    if (!metric_.empty()) at_["metric"] = at_.at(metric_);
    size_ = header.size();
  }

  std::size_t size() const { return size_; }
  const std::string& metric() const { return metric_; }
  bool has(const std::string& name) const { return at_.contains(name); }
  /// "" where there is no such column.
  std::string_view text(const std::vector<std::string>& row, const std::string& name) const {
    const auto found = at_.find(name);
    return found == at_.end() ? std::string_view{} : std::string_view(row[found->second]);
  }

 private:
  std::map<std::string, std::size_t> at_;
  std::string metric_;
  std::size_t size_ = 0;
};

/// One row, its numbers checked.
class Row {
 public:
  Row(const Columns& columns, const std::vector<std::string>& fields, std::string place)
      : columns_(columns), fields_(fields), place_(std::move(place)) {
    if (fields.size() != columns.size())
      fail(concat(fields.size(), " fields, but the header has ", columns.size()));
  }

  [[noreturn]] void fail(const std::string& what) const { throw Error(concat(place_, ": ", what)); }
  std::string text(const char* name) const {
    return cut_to(std::string(columns_.text(fields_, name)), longest_text);
  }
  bool has(const char* name) const { return !is_missing(columns_.text(fields_, name)); }
  double number(const char* name) const {
    const std::string_view text = columns_.text(fields_, name);
    if (is_missing(text)) return train::not_measured;
    const std::optional<double> value = csv_number(text);
    if (!value) fail(concat('"', name, "\" is not a number: ", excerpt(text)));
    return *value;
  }
  std::int64_t integer(const char* name) const {
    const double value = number(name);
    if (!(value >= 0 && value <= 0x1p53) || value != std::floor(value))
      fail(concat('"', name, "\" is no whole number from 0 on: ", excerpt(columns_.text(fields_, name))));
    return static_cast<std::int64_t>(value);
  }
  bool flag(const char* name) const {
    const std::string word = lowered(text(name));
    if (word == "true" || word == "false") return word == "true";
    const double value = number(name);
    return !std::isnan(value) && value != 0;
  }

 private:
  const Columns& columns_;
  const std::vector<std::string>& fields_;
  std::string place_;
};

bool is_preset(const std::string& recipe) {
  const std::vector<std::string> names = recipe_names();
  return std::ranges::find(names, recipe) != names.end();
}

std::string stem(const std::string& path) { return std::filesystem::path(path).stem().string(); }

/// A run without steps, as its first row describes it.
Run new_run(const std::string& path, const Columns& columns, const Row& row) {
  Run run;
  train::RunHeader& header = run.header;
  const std::string name = row.text("run"), recipe = row.text("recipe");
  run.path = name.empty() && recipe.empty() ? path : concat(path, "#", name.empty() ? recipe : name);
  run.foreign_recipe = recipe.empty() ? "unknown" : recipe;
  header.lesson = lesson_of_a_table;
  header.name = !recipe.empty() ? recipe : !name.empty() ? name : stem(path);
  if (is_preset(recipe)) {
    header.recipe = recipe_from_name(recipe);
    run.foreign_recipe.clear();
  }
  header.model = row.text("model");
  header.data = row.text("data");
  header.optimizer = row.text("optimizer");
  header.device = row.text("device");
  run.has_seed = row.has("seed");
  if (run.has_seed) header.seed = static_cast<std::uint64_t>(row.integer("seed"));
  header.metric = columns.metric().empty() ? "training loss" : columns.metric();
  header.higher_is_better = columns.metric() == "accuracy";
  run.result.emplace().seconds = train::not_measured;
  return run;
}

/// Adds what a row without a loss measured to the step before it.
void add_sampled(const Row& row, LogRecord& record) {
  for (const auto& [name, member] : sampled)
    if (row.has(name)) record.*member = row.number(name);
}

/// Where it does not, the loss is empty because it was NaN: pandas writes it so.
bool measures_something(const Row& row) {
  return std::ranges::any_of(sampled, [&](const auto& column) {
    const std::string_view name = column.first;
    return name != "epoch" && name != "seconds" && row.has(column.first);
  });
}

void add_step(const Row& row, Run& run) {
  std::vector<LogRecord>& steps = run.steps;
  train::RunResult& result = *run.result;
  if (row.has("peak_bytes")) result.peak_bytes = std::max(result.peak_bytes, row.integer("peak_bytes"));
  if (!row.has("loss") && (steps.empty() || measures_something(row))) {
    if (!steps.empty()) add_sampled(row, steps.back());
    return;
  }
  LogRecord record;
  record.step = row.integer("step");
  if (!steps.empty() && record.step <= steps.back().step)
    row.fail(concat("step ", record.step, " after step ", steps.back().step,
                    " of the same run: steps must go up (a column \"run\" or \"seed\" tells runs apart)"));
  record.loss = row.has("loss") ? row.number("loss") : std::numeric_limits<double>::quiet_NaN();
  record.scale = row.has("scale") ? row.number("scale") : steps.empty() ? 1 : steps.back().scale;
  record.skipped = row.flag("skipped");
  const std::int64_t before = steps.empty() ? 0 : steps.back().skips;
  record.skips = row.has("skips") ? row.integer("skips") : before + (record.skipped ? 1 : 0);
  add_sampled(row, record);
  if (result.first_nonfinite_step == 0 && !std::isfinite(record.loss))
    result.first_nonfinite_step = record.step;
  steps.push_back(record);
}

/// The last value of the metric is the result; without a metric it is the last loss.
void finish(Run& run, bool has_metric) {
  train::RunResult& result = *run.result;
  for (const LogRecord& record : run.steps) {
    const double value = has_metric ? record.metric : record.loss;
    if (!has_metric || train::is_measured(value)) result.value = value;
    if (!std::isnan(record.seconds)) result.seconds = record.seconds;
  }
  result.skipped = run.steps.back().skips;
  result.taken = run.steps.back().step - result.skipped;
  run.header.steps = run.steps.back().step;
  run.steps.shrink_to_fit();
}

}  // namespace

bool is_csv(const std::string& path) {
  return lowered(std::filesystem::path(path).extension().string()) == ".csv";
}

std::vector<Run> csv_runs(const std::string& path, const std::string& metric) {
  std::error_code unknown;
  expect(std::filesystem::is_regular_file(path, unknown), "cannot read the table ", path,
         ": it is no regular file");
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  expect(in.is_open(), "cannot read the table ", path, ": ", std::strerror(errno));
  CsvReader reader(in, path);
  std::vector<std::string> fields;
  expect(reader.next(fields), path, ": empty; a table begins with a header: step,loss,...");
  const Columns columns(fields, reader.place(), metric);

  std::vector<Run> runs;
  std::map<std::string, std::size_t> known;
  for (std::size_t rows = 0; reader.next(fields); ++rows) {
    const Row row(columns, fields, reader.place());
    if (rows == most_steps) row.fail(concat("more than ", most_steps, " rows"));
    std::string key;
    for (const char* const part : {"run", "recipe", "model", "data", "seed", "optimizer"})
      key += row.text(part) + '\0';
    const auto [found, is_new] = known.emplace(key, runs.size());
    if (is_new && runs.size() == most_runs) row.fail(concat("more than ", most_runs, " runs in one table"));
    if (is_new) runs.push_back(new_run(path, columns, row));
    add_step(row, runs[found->second]);
  }
  expect(!in.bad(), "cannot read the table ", path, ": the disk reports an error after line ", reader.line());
  std::erase_if(runs, [](const Run& run) { return run.steps.empty(); });
  expect(!runs.empty(), path, ": no row has a loss");
  for (Run& run : runs) finish(run, !columns.metric().empty());
  return runs;
}

}  // namespace tinymp::report
