#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gemm.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/gpu_check_report.h>
#include <lessons/lab/bench/measure.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <lessons/lab/report/table.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>

// ./learn gpu-check: runs all parts in order. A finished part is not run again.
namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;
using gpu_check::Finding;
using gpu_check::Part;
using gpu_check::State;
using Json = nlohmann::ordered_json;

constexpr std::array<Part, 9> parts = {{
    {"kernels", "Every kernel against its oracle", gpu_check::check_kernels, 600},
    {"sanitizer", "Ops, ladder and steps under compute-sanitizer", gpu_check::check_sanitizer, 900, true},
    {"bits", "Tensor cores against the simulator, bit for bit", gpu_check::check_bits, 120},
    {"gemm", "The GEMM ladder beside cuBLAS", gpu_check::check_gemm, 600},
    {"sweep", "The best rung beside cuBLAS, by size, layout and model", gpu_check::check_sweep, 900, true},
    {"launch", "Launches, nodes of a graph, values read back", gpu_check::check_launch, 60},
    {"memory", "Kernels that only move data, beside a copy", gpu_check::check_memory, 180},
    {"lessons", "Each lesson on the GPU and on the CPU", gpu_check::check_lessons, 1800, true},
    {"speed", "FP16 beside FP32, in training steps a second", gpu_check::check_speed, 900, true},
}};

/// The exit code of a part that had no time left for all of it, as that of timeout(1): given again it goes on.
constexpr int time_was_over = 124;

struct Flags {
  std::vector<std::string> only;
  std::string out;
  bool again = false, plain = false;
  int seconds = 0;  ///< for each part; 0: its own deadline
};

void print(const Part& part, const Json& done, const report::TerminalStyle& style) {
  std::cout << fmt::format("{}: {}. {}\n", part.name, done["state"].get<std::string>(),
                           done["summary"].get<std::string>());
  std::vector<std::vector<std::string>> rows = done["table"];
  if (rows.empty()) return;
  report::Table table;
  table.header = rows.front();
  table.rows.assign(rows.begin() + 1, rows.end());
  std::cout << report::format_table(table, style) << "\n";
}

struct Session {
  gpu_check::Setting setting;
  fs::path json;
  Json head;
};

Session session_of(const Flags& flags) {
  const std::unique_ptr<kernels::bench::Executor> executor =
      kernels::bench::executor();  // exit code 3 without a GPU
  const kernels::bench::Machine machine = executor->machine();
  if (machine.emulated && flags.out.empty()) {
    throw UsageError("gpu-check under emulation measures nothing: give --out DIR to see its parts run");
  }
  const fs::path results = flags.out.empty() ? fs::path(TINYMP_BENCH_RESULTS) : fs::path(flags.out);
  const fs::path scratch =
      fs::absolute(flags.out.empty() ? fs::path("runs") / "gpu-check" : results / "scratch");
  std::error_code failed;
  fs::create_directories(scratch, failed);
  expect(!failed, "gpu-check: cannot make the folder ", scratch.string(), ": ", failed.message());
  fs::create_directories(results, failed);
  expect(access(results.c_str(), W_OK) == 0, "gpu-check: cannot write into ", results.string(),
         ", where the report goes: --out names another folder");
  return {{.emulated = machine.emulated,
           .programs = own_folder(),
           .tests = own_folder() / "../tests",
           .scratch = scratch,
           .patience = machine.emulated ? 20.0 : 1.0},
          results / (gpu_check::file_name(machine.name) + ".json"),
          gpu_check::heading(machine)};
}

/// Runs a part. An exception becomes a finding as well, and is written down.
Finding finding_of(const Part& part, const gpu_check::Setting& setting) {
  try {
    return part.run(setting);
  } catch (const std::exception& error) {
    return {.state = State::bad, .summary = error.what(), .data = gpu_check::kept_rows(setting)};
  }
}

int run_part(const Part& part, const Session& session, const Flags& flags,
             const report::TerminalStyle& style) {
  bool over = false;
  Json done = gpu_check::read_report(session.json, session.head)["parts"].value(part.name, Json::object());
  if (!flags.again && gpu_check::has_ended(done)) {
    std::cout << "(done before; --again repeats it)  ";
  } else {
    std::cerr << part.title << " ...\n";
    const auto start = std::chrono::steady_clock::now();
    gpu_check::Setting setting = session.setting;
    const std::chrono::duration<double> most(flags.seconds > 0 ? flags.seconds
                                                               : setting.deadline(part.deadline));
    setting.end = start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(most);
    setting.part = part.name;
    if (flags.again || !part.resumes) gpu_check::forget_rows(setting);
    gpu_check::forget_rows_of_others(
        setting, concat(session.head.value("device", ""), " ", session.head.value("sources", "")));
    Finding finding = finding_of(part, setting);
    const std::string_view name = part.name;
    if (setting.emulated && (name == "memory" || name == "sweep" || name == "speed")) {
      const std::string mark = kernels::bench::untested_mark(TINYMP_BENCH_RESULTS, part.name);
      finding.summary += concat(mark.empty() ? "" : ". ", mark);
    }
    over = finding.unfinished || setting.deadline(1) < 1;
    done = gpu_check::record(session.json, session.head, parts, part, finding,
                             std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  print(part, done, style);
  if (gpu_check::has_ended(done)) return 0;
  return over ? time_was_over : 1;
}

/// Runs each part in a program of its own: after a faulty kernel a program has lost its GPU.
int run_parts(const Flags& flags) {
  const Session session = session_of(flags);
  if (flags.only.size() == 1) {
    const auto part = std::ranges::find(parts, flags.only[0], &Part::name);
    return run_part(*part, session, flags, report::terminal_style(STDOUT_FILENO, flags.plain));
  }
  std::cout << session.head["device"].get<std::string>() << ", "
            << session.head["architecture"].get<std::string>() << std::endl;
  const report::TerminalStyle style = report::terminal_style(STDOUT_FILENO, flags.plain);
  bool good = true;
  for (const Part& part : parts) {
    if (!flags.only.empty() && std::ranges::find(flags.only, part.name) == flags.only.end()) continue;
    std::vector<std::string> command = {(own_folder() / "measure").string(), "gpu-check", "--part",
                                        part.name};
    if (!flags.out.empty()) command.insert(command.end(), {"--out", flags.out});
    if (flags.again) command.emplace_back("--again");
    if (flags.seconds > 0) command.insert(command.end(), {"--seconds", concat(flags.seconds)});
    if (flags.plain) command.emplace_back("--plain");
    const gpu_check::Outcome outcome = gpu_check::run_program(
        command, session.setting.deadline(std::max<double>(part.deadline, flags.seconds)) +
                     15);  // it ends itself before
    good = outcome.good() && good;
    if (outcome.good() || outcome.code == 1 || (outcome.code == time_was_over && !outcome.timed_out))
      continue;
    gpu_check::Setting setting = session.setting;
    setting.part = part.name;
    const Finding ended{.state = State::bad,
                        .summary = concat("the part ended without a result: ", outcome.text()),
                        .data = gpu_check::kept_rows(setting)};
    print(part,
          gpu_check::record(session.json, session.head, parts, part, ended,
                            outcome.timed_out ? outcome.deadline : 0),
          style);
  }
  std::cout << "Report: " << session.json.string() << "\n";
  return good ? 0 : 1;
}

}  // namespace

int gpu_check_command(int argc, char** argv) {
  Flags flags;
  CLI::App app(
      "Everything that only a GPU can show, in parts of a few minutes.\n"
      "A part that is finished is not done again, so the command may be interrupted and given once more.",
      "./learn gpu-check");
  std::vector<std::string> choices;
  std::string list = "Parts:\n";
  for (const Part& part : parts) {
    choices.emplace_back(part.name);
    list += fmt::format("  {:<10} {}\n", part.name, part.title);
  }
  app.add_option("--part", flags.only, "Only these")
      ->type_name("NAME,...")
      ->delimiter(',')
      ->check(CLI::IsMember(choices).description(""));
  app.add_option("--out", flags.out, "A folder for the report (lessons/lab/bench/results)")->type_name("DIR");
  app.add_option("--seconds", flags.seconds,
                 "End each part after so long, with what it has (as the part needs)")
      ->type_name("N")
      ->check(whole(1, 86400));
  app.add_flag("--again", flags.again, "Do everything again");
  app.add_flag("--plain", flags.plain, "ASCII only, no colour");
  app.footer(list);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  return run_parts(flags);
}

}  // namespace tinymp::lab
