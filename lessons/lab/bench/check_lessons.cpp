#include <fmt/format.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <tinymp/base/error.h>
#include <tinymp/train/run_log.h>
#include <algorithm>
#include <cmath>
#include <map>

// Runs whole trainings with the programs that a user starts.
namespace tinymp::lab::gpu_check {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Runs = std::map<std::string, train::Run>;

/// A program that was ended after its deadline.
struct TookTooLong : Error {
  using Error::Error;
};

/// Runs `command` into a folder of its own and reads its logs, by question, name and seed. Empty when the
/// program refuses the command (exit code 2): lesson 02 stays on the CPU.
Runs runs_of(const Setting& setting, const std::string& name, std::vector<std::string> command,
             double deadline) {
  const fs::path folder = setting.scratch / name;
  fs::remove_all(folder);
  command.insert(command.end(), {"--plain", "--out", folder.string()});
  const fs::path log = setting.scratch / (name + ".log");
  const Outcome outcome = run_program(command, setting.deadline(deadline), log);
  if (outcome.timed_out) throw TookTooLong(outcome.text());
  if (outcome.code == 2) return {};
  expect(outcome.good(), outcome.text(), ": ", last_line_of(log));
  Runs runs;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".jsonl") continue;
    train::Run run = train::load_run(entry.path().string());
    runs.emplace(concat(run.header.question, " / ", run.header.name, " / ", run.header.seed), std::move(run));
  }
  return runs;
}

/// Whether two runs agree. Another order of sums gives other bits, and after some steps other weights, but
/// not another result.
bool alike(const train::Run& a, const train::Run& b) {
  const double first = a.steps.front().loss, twin = b.steps.front().loss;
  if (!(std::fabs(first - twin) <= 0.01 * std::fabs(twin))) return false;
  const double x = a.result->value, y = b.result->value;
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
  return a.header.higher_is_better ? std::fabs(x - y) <= 5 : std::fabs(x - y) <= 0.1 * std::fabs(y);
}

struct Comparison {
  int compared = 0, apart = 0;
  double gpu_seconds = 0, cpu_seconds = 0;
  std::string first_apart{};
  bool timed_out = false;
};

Comparison compare(const Runs& gpu, const Runs& cpu) {
  Comparison found;
  for (const auto& [name, run] : gpu) {
    const auto twin = cpu.find(name);
    ++found.compared;
    if (twin == cpu.end() || !run.result || !twin->second.result || run.steps.empty() ||
        twin->second.steps.empty()) {
      if (found.apart++ == 0) found.first_apart = name + ": one of the two did not end";
      continue;
    }
    found.gpu_seconds += run.result->seconds;
    found.cpu_seconds += twin->second.result->seconds;
    if (alike(run, twin->second)) continue;
    if (found.apart++ == 0)
      found.first_apart = fmt::format("{}: {} and {}", name, run.result->value, twin->second.result->value);
  }
  return found;
}

std::vector<std::string> own_run(const Setting& setting) {
  return {(setting.programs / "learn").string(),
          "train",
          "--data",
          "cut",
          "--recipe",
          "fp16_dynamic",
          "--steps",
          "3",
          "--batch",
          "16",
          "--widths",
          "784,16,10"};
}

Comparison comparison_of(const Setting& setting, const std::string& name,
                         const std::vector<std::string>& command) {
  std::vector<std::string> on_gpu = command, on_cpu = command;
  on_gpu.insert(on_gpu.end(), {"--device", "cuda"});
  on_cpu.insert(on_cpu.end(), {"--device", "cpu"});
  try {
    const Runs gpu = runs_of(setting, "gpu-" + name, on_gpu, 120);
    if (gpu.empty()) return {};  // it stays on the CPU
    return compare(gpu, runs_of(setting, "cpu-" + name, on_cpu, 300));
  } catch (const TookTooLong& late) {
    return {.first_apart = late.what(), .timed_out = true};
  } catch (const std::exception& error) {  // the other lessons still have something to tell
    return {.compared = 1, .apart = 1, .first_apart = concat("lesson ", name, ": ", error.what())};
  }
}

Json row_of(const std::string& name, const Comparison& c) {
  return {{"lesson", name},
          {"good", c.apart == 0 && !c.timed_out},
          {"timed_out", c.timed_out},
          {"runs", c.compared},
          {"apart", c.apart},
          {"first_apart", c.first_apart},
          {"gpu_seconds", c.gpu_seconds},
          {"cpu_seconds", c.cpu_seconds}};
}

}  // namespace

Finding check_lessons(const Setting& setting) {
  Finding finding{.table = {{"lesson", "runs", "alike", "GPU s", "CPU s", "first that differs"}}};
  std::vector<std::pair<std::string, std::vector<std::string>>> commands;
  if (setting.emulated) {
    commands.emplace_back("train", own_run(setting));  // a lesson would take an hour
  } else {
    for (const LessonProgram& lesson : lesson_programs())
      commands.emplace_back(lesson.number, std::vector<std::string>{lesson.path, "--smoke", "--data", "cut"});
  }
  std::vector<std::string> names;
  for (const auto& one : commands) names.push_back(one.first);
  ResumedRows rows(setting, names);
  int apart = 0, compared = 0, missing = 0, late = 0;
  std::string first;
  for (const auto& [name, command] : commands) {
    const Json row = rows.row(name, [&, &name = name, &command = command](const Json&) {
      return row_of(name, comparison_of(setting, name, command));
    });
    if (row.is_null()) {
      ++missing;
      finding.table.push_back({name, "-", "-", "-", "-", "not reached: the time of the part is over"});
      continue;
    }
    const int runs = row.value("runs", 0), differ = row.value("apart", 0);
    const std::string differs = row.value("first_apart", "");
    apart += differ;
    compared += runs;
    late += row.value("timed_out", false);
    if (first.empty() && differ > 0) first = differs;
    finding.table.push_back({name, concat(runs), concat(runs - differ), number(row["gpu_seconds"], "{:.2f}"),
                             number(row["cpu_seconds"], "{:.2f}"), differs});
    finding.data.push_back(row);
  }
  finding.unfinished = missing + late > 0;
  expect(compared + missing + late > 0, "gpu-check: there is no run to compare");
  finding.state = state_of(apart, missing + late);
  finding.summary =
      finding.state == State::good ? "every run ends where its twin on the CPU does"
      : apart == 0 && late == 0
          ? fmt::format("the time was over before {} of {} lessons", missing, names.size())
      : apart == 0
          ? fmt::format("{} of {} lessons took too long, {} were not reached", late, names.size(), missing)
          : fmt::format("{} runs end elsewhere than on the CPU, the first: {}", apart, first);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
