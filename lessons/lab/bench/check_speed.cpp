#include <fmt/format.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/report_text.h>
#include <lessons/lab/bench/steps.h>
#include <tinymp/base/parallel_for.h>
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

// Training steps a second of each model, with the start of the program and its first steps left out.
namespace tinymp::lab::gpu_check {
namespace {

namespace bench = kernels::bench;

// Of a model: it begins when there is so much time.
constexpr double least_seconds = 30, least_compiled = 90;
constexpr double most_seconds = 180;  ///< of PyTorch for one answer

/// Under emulation an MLP and two language models in small, and one sample each.
std::vector<bench::StepModel> models_of(const Setting& setting) {
  std::vector<bench::StepModel> models(bench::step_models().begin(), bench::step_models().end());
  const std::span<const bench::StepModel> of_gpus = bench::gpu_step_models();
  if (!setting.emulated) {
    models.insert(models.begin() + 1, of_gpus[0]);  // where the multiplications count
    models.insert(models.end(), of_gpus.begin() + 1, of_gpus.end());
    return models;
  }
  models.resize(1);
  models[0].batch = 2;
  for (const auto& [i, width, what] :
       {std::tuple{1, 8, "LSTM of 64 words, 8 wide"}, {2, 16, "decoder of 64 words, 4 layers of 16"}}) {
    models.push_back(of_gpus[static_cast<std::size_t>(i)]);
    bench::StepModel& model = models.back();
    model.batch = model.values = 2;
    model.words = 64;
    model.width = width;
    model.what = what;
  }
  return models;
}

bench::RaceRules rules_of(const Setting& setting) {
  return setting.emulated ? bench::RaceRules{.rounds = 1, .sample_seconds = 0, .patience = 0, .least = 1}
                          : bench::RaceRules{.patience = 3};
}

std::vector<std::string> head_of(const bench::StepsReport& report) {
  std::vector<std::string> head = report.table().header;
  head.insert(head.end(), {"times our FP32"});
  return head;
}

using Json = nlohmann::ordered_json;

/// {"model": ..., "compiled": ..., "head": ..., "table": ..., "gain": of the best narrow format}, and the report.
Json row_of(const bench::StepsReport& report, const bench::StepModel& model, bool compiled) {
  Json row{{"model", model.name},
           {"compiled", compiled},
           {"head", head_of(report)},
           {"table", report.table().rows},
           {"gain", 0}};
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const double gain = bench::quotient(1, report.rows[i].of_fp32);
    row["table"][i].push_back(bench::times(gain));
    if (i > 0) row["gain"] = std::max(row["gain"].get<double>(), gain);
  }
  row["report"] = report.json();
  if (!report.fault.empty()) row["fault"] = report.fault;
  return row;
}

/// The row of each model: first without torch.compile, seconds each, then with it, a minute each. A part that is ended early
/// has something of every model, and goes on where it was.
class SpeedRows {
 public:
  explicit SpeedRows(const Setting& setting) : setting_(&setting), models_(models_of(setting)) {
    for (const Json& row : kept_rows(setting))
      if (!row.contains("fault")) rows_[row.value("model", "")] = row;  // the last one is the fullest
  }

  void measure(bool compile) {
    const double least = compile ? least_compiled : least_seconds;
    for (const bench::StepModel& model : models_) {
      const auto known = rows_.find(model.name);
      if (known != rows_.end() && (!compile || known->second.value("compiled", false))) continue;
      if (!pytorch_) pytorch_.emplace(threads(), Device::cuda);
      if (compile && !pytorch_->why_not().empty()) return;
      if (setting_->deadline(least) < least && (compile || !rows_.empty()))
        missing_.insert(model.name);
      else
        take(model, compile);
    }
  }

  /// The table, the summary and the figures.
  Finding finding() const {
    Finding found;
    double best = 0;
    for (const bench::StepModel& model : models_) {
      const auto row = rows_.find(model.name);
      if (row == rows_.end()) continue;
      add(found, model, row->second);
      best = std::max(best, row->second.value("gain", 0.0));
    }
    found.unfinished = !missing_.empty();
    if (found.state == State::good && found.unfinished) {
      found.state = State::unfinished;
      found.summary = fmt::format("the time was over before {} of {} models, or before torch.compile of them",
                                  missing_.size(), models_.size());
    } else if (found.state == State::good) {
      found.summary = setting_->emulated
                          ? "every step ended; the times of an emulation mean nothing"
                          : fmt::format("a narrow format trains up to {:.2f} times as fast as FP32", best);
    }
    return found;
  }

 private:
  void take(const bench::StepModel& model, bool compile) {
    const bool late = wait_for_pytorch();
    const bench::StepModel* const one[] = {&model};
    Json row;
    try {
      row = row_of(bench::bench_steps(
                       *pytorch_, one, Device::cuda, rules_of(*setting_), [](const std::string&) {}, compile),
                   model, compile);
    } catch (const std::exception& error) {  // the other models still have something to tell
      row = {{"model", model.name}, {"fault", error.what()}};
    }
    if (had_pytorch_ && !pytorch_->why_not().empty()) {  // it gave no answer in time
      pytorch_.reset();
      if (late) {  // what the end of the part has cut off says nothing
        missing_.insert(model.name);
        if (compile) return;
      }
    }
    Finding not_yet;
    keep(not_yet, *setting_, row);
    rows_[model.name] = std::move(row);
  }

  /// For one answer PyTorch has what is left of the part, and no more than `most_seconds`. True if less is left.
  bool wait_for_pytorch() {
    had_pytorch_ = pytorch_->why_not().empty();
    const double left = setting_->deadline(most_seconds);
    pytorch_->wait_at_most(std::max(1, static_cast<int>(left)));
    return left < most_seconds;
  }

  static void add(Finding& found, const bench::StepModel& model, const Json& row) {
    found.data.push_back(row);
    if (row.contains("fault")) {
      if (found.state == State::good)
        found.summary = concat(model.what, ": ", row["fault"].get<std::string>());
      found.state = State::bad;
    }
    if (!row.contains("table")) return;
    if (found.table.empty()) found.table.push_back(row["head"]);
    for (const Json& cells : row["table"]) found.table.push_back(cells);
  }

  const Setting* setting_;
  std::vector<bench::StepModel> models_;
  std::map<std::string, Json> rows_;
  std::set<std::string> missing_;
  std::optional<bench::PyTorch> pytorch_;
  bool had_pytorch_ = false;
};

}  // namespace

Finding check_speed(const Setting& setting) {
  SpeedRows rows(setting);
  rows.measure(false);
  rows.measure(true);
  return rows.finding();
}

}  // namespace tinymp::lab::gpu_check
