#include <fmt/format.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/report_text.h>
#include <lessons/lab/bench/steps.h>
#include <tinymp/base/parallel_for.h>
#include <algorithm>
#include <span>
#include <tuple>

// Training steps a second of each model, with the start of the program and its first steps left out.
namespace tinymp::lab::gpu_check {
namespace {

namespace bench = kernels::bench;

constexpr double least_seconds = 120;  ///< for a model: torch.compile takes its time

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

/// The row of a model that an interrupted run has measured already; null when there is none.
Json measured_before(const Json& rows, const bench::StepModel& model) {
  for (const Json& row : rows)
    if (row.value("model", "") == model.name && !row.contains("fault")) return row;
  return nullptr;
}

/// {"model": ..., "head": ..., "table": ..., "gain": of the best narrow format}, and the report.
Json row_of(const bench::StepsReport& report, const bench::StepModel& model) {
  Json row{{"model", model.name}, {"head", head_of(report)}, {"table", report.table().rows}, {"gain", 0}};
  for (std::size_t i = 0; i < report.rows.size(); ++i) {
    const double gain = bench::quotient(1, report.rows[i].of_fp32);
    row["table"][i].push_back(bench::times(gain));
    if (i > 0) row["gain"] = std::max(row["gain"].get<double>(), gain);
  }
  row["report"] = report.json();
  if (!report.fault.empty()) row["fault"] = report.fault;
  return row;
}

}  // namespace

Finding check_speed(const Setting& setting) {
  Finding finding;
  const Json before = kept_rows(setting);
  bench::PyTorch pytorch(threads(), Device::cuda);
  double best = 0;
  for (const bench::StepModel& model : models_of(setting)) {
    Json row = measured_before(before, model);
    const bool known = !row.is_null();
    if (!known && !finding.table.empty() && setting.deadline(least_seconds) < least_seconds) {
      finding.unfinished = true;
      row = {{"model", model.name}, {"fault", "left out: the time of the part is over"}};
    } else if (!known) {
      const bench::StepModel* const one[] = {&model};
      try {
        row = row_of(
            bench::bench_steps(pytorch, one, Device::cuda, rules_of(setting), [](const std::string&) {}),
            model);
      } catch (const std::exception& error) {  // the other models still have something to tell
        row = {{"model", model.name}, {"fault", error.what()}};
      }
    }
    if (known)
      finding.data.push_back(row);
    else
      keep(finding, setting, row);
    if (row.contains("fault")) {
      finding.state = State::bad;
      if (finding.summary.empty())
        finding.summary = concat(model.what, ": ", row["fault"].get<std::string>());
    }
    if (!row.contains("table")) continue;
    if (finding.table.empty()) finding.table.push_back(row["head"]);
    for (const Json& cells : row["table"]) finding.table.push_back(cells);
    best = std::max(best, row["gain"].get<double>());
  }
  if (finding.state == State::bad) return finding;
  finding.summary = setting.emulated
                        ? "every step ended; the times of an emulation mean nothing"
                        : fmt::format("a narrow format trains up to {:.2f} times as fast as FP32", best);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
