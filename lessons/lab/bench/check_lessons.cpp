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
using Runs = std::map<std::string, train::Run>;

/// Runs `command` into a folder of its own and reads its logs, by question, name and seed. Empty when the
/// program refuses the command (exit code 2): lesson 02 stays on the CPU.
Runs runs_of(const Setting& setting, const std::string& name, std::vector<std::string> command) {
  const fs::path folder = setting.scratch / name;
  fs::remove_all(folder);
  command.insert(command.end(), {"--plain", "--out", folder.string()});
  const fs::path log = setting.scratch / (name + ".log");
  const int code = run_program(command, log);
  if (code == 2) return {};
  expect(code == 0, "gpu-check: ", command[0], " ended with exit code ", code, ": ", last_line_of(log));
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
};

Comparison compare(const Runs& gpu, const Runs& cpu) {
  Comparison found;
  for (const auto& [name, run] : gpu) {
    const auto twin = cpu.find(name);
    ++found.compared;
    if (twin == cpu.end() || !run.result || !twin->second.result || run.steps.empty()) {
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

}  // namespace

Finding check_lessons(const Setting& setting) {
  Finding finding{.table = {{"lesson", "runs", "alike", "GPU s", "CPU s"}}};
  std::vector<std::pair<std::string, std::vector<std::string>>> commands;
  if (setting.emulated) {
    commands.emplace_back("train", own_run(setting));  // a lesson would take an hour
  } else {
    for (const LessonProgram& lesson : lesson_programs())
      commands.emplace_back(lesson.number, std::vector<std::string>{lesson.path, "--smoke", "--data", "cut"});
  }
  int apart = 0, compared = 0;
  std::string first;
  for (const auto& [name, command] : commands) {
    std::vector<std::string> on_gpu = command, on_cpu = command;
    on_gpu.insert(on_gpu.end(), {"--device", "cuda"});
    on_cpu.insert(on_cpu.end(), {"--device", "cpu"});
    const Comparison c =
        compare(runs_of(setting, "gpu-" + name, on_gpu), runs_of(setting, "cpu-" + name, on_cpu));
    apart += c.apart;
    compared += c.compared;
    if (first.empty()) first = c.first_apart;
    finding.table.push_back({name, std::to_string(c.compared), std::to_string(c.compared - c.apart),
                             fmt::format("{:.2f}", c.gpu_seconds), fmt::format("{:.2f}", c.cpu_seconds)});
    finding.data.push_back({{"lesson", name},
                            {"runs", c.compared},
                            {"apart", c.apart},
                            {"gpu_seconds", c.gpu_seconds},
                            {"cpu_seconds", c.cpu_seconds}});
  }
  expect(compared > 0, "gpu-check: there is no run to compare");
  finding.state = apart == 0 ? State::good : State::bad;
  finding.summary = apart == 0
                        ? "every run ends where its twin on the CPU does"
                        : fmt::format("{} runs end elsewhere than on the CPU, the first: {}", apart, first);
  return finding;
}

Finding check_speed(const Setting& setting) {
  Finding finding{.table = {{"model", "batch", "FP32 steps/s", "FP16 steps/s", "FP16 / FP32"}}};
  struct Model {
    const char *widths, *batch, *steps;
  };
  std::vector<Model> models = {{"784,128,10", "64", "1000"}, {"784,4096,4096,10", "2048", "100"}};
  if (setting.emulated) models = {{"784,16,10", "16", "2"}};
  double best = 0;
  for (const Model& model : models) {
    const auto steps_a_second = [&](const char* recipe) {
      const Runs runs = runs_of(setting, concat("speed-", recipe),
                                {(setting.programs / "learn").string(), "train", "--device", "cuda", "--data",
                                 "cut", "--recipe", recipe, "--widths", model.widths, "--batch", model.batch,
                                 "--steps", model.steps, "--log-every", "100", "--shadow-every", "0"});
      expect(runs.size() == 1 && runs.begin()->second.result, "gpu-check: a run of ", model.widths,
             " did not end");
      return std::stod(model.steps) / runs.begin()->second.result->seconds;
    };
    const double wide = steps_a_second("fp32"), narrow = steps_a_second("fp16_dynamic");
    best = std::max(best, narrow / wide);
    finding.table.push_back({model.widths, model.batch, fmt::format("{:.0f}", wide),
                             fmt::format("{:.0f}", narrow), fmt::format("{:.2f}", narrow / wide)});
    finding.data.push_back({{"widths", model.widths},
                            {"batch", model.batch},
                            {"fp32_steps_per_second", wide},
                            {"fp16_steps_per_second", narrow}});
  }
  finding.summary = setting.emulated ? "every run ended; the times of an emulation mean nothing"
                                     : fmt::format("FP16 trains up to {:.2f} times as fast as FP32", best);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
