#include <lessons/lab/bench/report_text.h>
#include <lessons/lab/bench/steps.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <memory>
#include <utility>

namespace tinymp::kernels::bench {
namespace {

std::string why_no_pytorch(PyTorch& pytorch, const StepModel& model, const StepRecipe& recipe,
                           std::int64_t parameters, Device device, double& first) {
  if (recipe.recipe.eight_bits.any()) return no_eight_bits;
  if (!pytorch.why_not().empty()) return pytorch.why_not();
  try {
    const auto theirs = pytorch.ask<std::int64_t>(concat("model ", model.name), "parameters");
    if (theirs != parameters) return concat("its model has ", theirs, " parameters and ours ", parameters);
    const std::string one = concat("step ", model.name, " ", recipe.name, " 1");
    first = pytorch.seconds(one);
    if (device == Device::cuda) first = pytorch.seconds(one);  // the first loaded libraries
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

/// PyTorch's ways to a faster step on a GPU, with their names in pytorch.py.
constexpr std::array<std::pair<const char*, const char*>, 2> gpu_ways = {
    {{"compiled", "+compile"}, {"graph", "+graph"}}};

/// The contenders of a race, and where the time of each goes.
struct Entrants {
  std::vector<Contender> contenders{};
  std::vector<Timing*> results{};

  void add(Timing& result, const char* name, std::function<double(int)> seconds) {
    contenders.push_back({name, std::move(seconds)});
    results.push_back(&result);
  }
};

void enter_ours(Entrants& entrants, StepRow& row, Training& training, Device device) {
  entrants.add(row.ours, "ours", [&training](int runs) {
    return seconds_of([&] { training.step(); }, runs, [&] { training.wait(); });
  });
  if (device == Device::cpu) return;
  entrants.add(row.graph, "our graph", [&training, recorded = false](int runs) mutable {
    if (!std::exchange(recorded, true)) training.record();
    return seconds_of([&] { training.graph_step(); }, runs, [&] { training.wait(); });
  });
}

void enter_pytorch(Entrants& entrants, StepRow& row, PyTorch& pytorch) {
  const auto add = [&](Timing& result, const char* name, const char* way) {
    entrants.add(result, name,
                 [&pytorch, request = concat("step ", row.model->name, " ", row.recipe->name, way, " ")](
                     int runs) { return pytorch.seconds(concat(request, runs)); });
  };
  add(row.pytorch, "PyTorch", "");
  for (std::size_t i = 0; i < row.ways.size(); ++i)
    if (row.ways[i].why_not.empty()) add(row.ways[i].timing, gpu_ways[i].first, gpu_ways[i].second);
}

/// What went wrong with our step, or with its graph; empty when nothing did.
std::string fault_of(const StepRow& row) {
  const auto told = [&](const char* as, const std::string& fault) {
    return concat(row.model->what, ", ", row.recipe->name, as, ": ", fault);
  };
  if (!row.ours.fault.empty()) return told("", row.ours.fault);
  return row.graph.fault.empty() ? "" : told(", as a graph", row.graph.fault);
}

std::vector<PyTorchWay> ways_on(Device device, bool compile) {
  std::vector<PyTorchWay> ways;
  if (device == Device::cpu) return ways;
  for (const auto& [name, way] : gpu_ways)
    ways.push_back({.name = name, .why_not = !compile && way == gpu_ways[0].second ? "left out" : ""});
  return ways;
}

/// Adds the rows of a model to the report.
void race_of(PyTorch& pytorch, const StepModel& model, Device device, const RaceRules& rules, bool compile,
             StepsReport& report) {
  std::vector<StepRow> rows;
  for (const StepRecipe& recipe : step_recipes()) rows.push_back({.model = &model, .recipe = &recipe});
  std::vector<std::unique_ptr<Training>> trainings;
  Entrants entrants;
  for (StepRow& row : rows) {
    try {
      trainings.push_back(std::make_unique<Training>(model, row.recipe->recipe, device));
    } catch (const Error& error) {  // the other recipes go on
      row.ours.fault = row.no_pytorch = error.what();
      continue;
    }
    Training& training = *trainings.back();
    enter_ours(entrants, row, training, device);
    row.ways = ways_on(device, compile);
    double first = 0;
    row.no_pytorch = why_no_pytorch(pytorch, model, *row.recipe, training.parameters(), device, first);
    if (!row.no_pytorch.empty()) continue;
    if (first > rules.patience) {  // one run is enough: PyTorch's FP16 can take minutes
      row.pytorch = {first, first, 1, 1};
      continue;
    }
    enter_pytorch(entrants, row, pytorch);
  }
  const std::vector<Timing> timings = race(entrants.contenders, rules);
  for (std::size_t i = 0; i < timings.size(); ++i) *entrants.results[i] = timings[i];
  for (StepRow& row : rows) {
    if (report.fault.empty()) report.fault = fault_of(row);
    if (!row.pytorch.fault.empty()) row.no_pytorch = row.pytorch.fault;
    for (PyTorchWay& way : row.ways)
      way.why_not = way.timing.median > 0       ? ""
                    : !way.timing.fault.empty() ? way.timing.fault
                    : !row.no_pytorch.empty()   ? row.no_pytorch
                    : !way.why_not.empty()      ? way.why_not
                                                : "not timed: PyTorch's own step takes too long";
    row.pytorch_fp32 = rows[0].pytorch;
    row.of_fp32 = quotient(row.ours.median, rows[0].ours.median);
  }
  report.rows.insert(report.rows.end(), rows.begin(), rows.end());
}

}  // namespace

StepsReport bench_steps(PyTorch& pytorch, std::span<const StepModel* const> models, Device device,
                        const RaceRules& rules, const Progress& progress, bool compile) {
  StepsReport report{.device = device, .pytorch = about(pytorch)};
  for (const StepModel* model : models) {
    progress(concat("training steps, ", model->what, ", batch ", model->batch));
    race_of(pytorch, *model, device, rules, compile, report);
  }
  return report;
}

StepProfile profile_steps(const StepModel& model, const StepRecipe& recipe, Device device, double seconds) {
  using Clock = std::chrono::steady_clock;
  Training training(model, recipe.recipe, device);
  training.step();
  const double once = seconds_of([&] { training.step(); }, 1, [&] { training.wait(); });
  StepProfile profile{.model = &model, .recipe = &recipe, .device = device};
  profile.steps = static_cast<int>(std::clamp(std::ceil(seconds / std::max(once, 1e-9)), 1.0, 1e6));
  const Profile watching;
  const auto start = Clock::now();
  for (int i = 0; i < profile.steps; ++i) training.step();
  profile.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  profile.lines = watching.lines();
  return profile;
}

}  // namespace tinymp::kernels::bench
