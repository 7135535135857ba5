#include <unistd.h>

#include <fmt/format.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/measure.h>
#include <lessons/lab/learn/command_line.h>
#include <lessons/lab/learn/lesson_programs.h>
#include <lessons/lab/report/table.h>
#include <tinymp/train/provenance.h>
#include <tinymp/train/run_log.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iostream>

// ./learn gpu-check: runs all parts in order. A finished part is not run again.
namespace tinymp::lab {
namespace {

namespace fs = std::filesystem;
using gpu_check::Finding;
using gpu_check::Part;
using gpu_check::State;
using Json = nlohmann::ordered_json;

constexpr std::array<Part, 7> parts = {{
    {"kernels", "Every kernel against its oracle", gpu_check::check_kernels},
    {"sanitizer", "Kernels under compute-sanitizer", gpu_check::check_sanitizer},
    {"bits", "Tensor cores against the simulator, bit for bit", gpu_check::check_bits},
    {"gemm", "The GEMM ladder beside cuBLAS", gpu_check::check_gemm},
    {"memory", "Kernels that only move data, beside a copy", gpu_check::check_memory},
    {"lessons", "Each lesson on the GPU and on the CPU", gpu_check::check_lessons},
    {"speed", "FP16 beside FP32, in training steps a second", gpu_check::check_speed},
}};

struct Flags {
  std::vector<std::string> only;
  std::string out;
  bool again = false, plain = false;
};

const char* word_for(State state) {
  return state == State::good ? "good" : state == State::bad ? "BAD" : "left out";
}

/// "NVIDIA H200" -> "nvidia-h200"
std::string file_name(const std::string& device) {
  std::string name;
  for (const char c : device) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  return name;
}

Json as_json(const Finding& finding, double seconds) {
  return {{"state", word_for(finding.state)}, {"summary", finding.summary}, {"seconds", seconds},
          {"date", train::utc_now()},         {"table", finding.table},     {"data", finding.data}};
}

/// The time when this program was linked. The commit alone does not show later changes.
std::string build_time() {
  std::error_code failed;
  const fs::file_time_type time = fs::last_write_time(own_folder() / "measure", failed);
  return failed ? "unknown" : std::to_string(time.time_since_epoch().count());
}

/// The machine and the build of the figures. While this stays the same, a finished part is not run again.
Json heading(const kernels::bench::Machine& machine) {
  return {{"device", machine.name},
          {"architecture", concat("sm_", machine.architecture)},
          {"driver", machine.driver},
          {"runtime", machine.runtime},
          {"commit", train::build_commit()},
          {"compiler", train::compiler_name()},
          {"build", build_time()}};
}

std::string markdown(const Json& report) {
  std::string text =
      fmt::format("# {}\n\n{}, driver for CUDA {}, runtime {}, commit {}, {}. Made by `./learn gpu-check`.\n",
                  report["device"].get<std::string>(), report["architecture"].get<std::string>(),
                  report["driver"].get<std::string>(), report["runtime"].get<std::string>(),
                  report["commit"].get<std::string>(), report["date"].get<std::string>());
  for (const Part& part : parts) {
    text += fmt::format("\n## {}\n\n", part.title);
    if (!report["parts"].contains(part.name)) {
      text += "Not run.\n";
      continue;
    }
    const Json& done = report["parts"][part.name];
    text += fmt::format("{}: {}.\n", done["state"].get<std::string>(), done["summary"].get<std::string>());
    bool head = true;
    for (const Json& row : done["table"]) {
      text += head ? "\n|" : "|";
      for (const Json& cell : row) text += fmt::format(" {} |", cell.get<std::string>());
      text += "\n";
      if (!head) continue;
      text += "|";
      for (std::size_t i = 0; i < row.size(); ++i) text += i == 0 ? " --- |" : " ---: |";
      text += "\n";
      head = false;
    }
  }
  return text;
}

/// Writes beside the old file and then replaces it, so that a full disk loses no result.
void write(const fs::path& path, const std::string& text) {
  const fs::path beside = path.string() + ".new";
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  std::ofstream out(beside);
  out << text << std::flush;
  expect(out.good(), train::write_failure("the report", beside.string(), errno));
  out.close();
  fs::rename(beside, path, failed);
  expect(!failed, "cannot put the report at ", path.string(), ": ", failed.message());
}

Json read_report(const fs::path& path, const Json& head) {
  std::ifstream in(path);
  Json report = Json::parse(in, nullptr, false);
  const auto same = [&](const auto& field) {
    return report.contains(field.key()) && report[field.key()] == field.value();
  };
  bool ours = report.is_object() && report.contains("parts");
  for (const auto& field : head.items()) ours = ours && same(field);
  if (!ours) report = head;  // figures of another build are dropped
  if (!report.contains("parts")) report["parts"] = Json::object();
  return report;
}

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
  return {{machine.emulated, own_folder(), own_folder() / "../../tests", scratch},
          results / (file_name(machine.name) + ".json"),
          heading(machine)};
}

/// Runs a part. An exception becomes a finding as well, and is written down.
Finding finding_of(const Part& part, const gpu_check::Setting& setting) {
  try {
    return part.run(setting);
  } catch (const std::exception& error) {
    return {.state = State::bad, .summary = error.what()};
  }
}

int run_part(const Part& part, const Session& session, bool again, const report::TerminalStyle& style) {
  Json report = read_report(session.json, session.head);
  Json& parts = report["parts"];
  const bool done = parts.contains(part.name) && parts[part.name]["state"] != word_for(State::bad);
  if (done && !again) {
    std::cout << "(done before; --again repeats it)  ";
  } else {
    std::cerr << part.title << " ...\n";
    const auto start = std::chrono::steady_clock::now();
    const Finding finding = finding_of(part, session.setting);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    parts[part.name] = as_json(finding, seconds);
    report["date"] = train::utc_now();
    write(session.json, report.dump(1) + "\n");
    write(fs::path(session.json).replace_extension(".md"), markdown(report));
  }
  print(part, parts[part.name], style);
  return parts[part.name]["state"] == word_for(State::bad) ? 1 : 0;
}

/// Runs each part in a program of its own: after a faulty kernel a program has lost its GPU.
int run_parts(const Flags& flags) {
  const Session session = session_of(flags);
  if (flags.only.size() == 1) {
    const auto part = std::ranges::find(parts, flags.only[0], &Part::name);
    return run_part(*part, session, flags.again, report::terminal_style(STDOUT_FILENO, flags.plain));
  }
  std::cout << session.head["device"].get<std::string>() << ", "
            << session.head["architecture"].get<std::string>() << std::endl;
  bool good = true;
  for (const Part& part : parts) {
    if (!flags.only.empty() && std::ranges::find(flags.only, part.name) == flags.only.end()) continue;
    std::vector<std::string> command = {(own_folder() / "measure").string(), "gpu-check", "--part",
                                        part.name};
    if (!flags.out.empty()) command.insert(command.end(), {"--out", flags.out});
    if (flags.again) command.emplace_back("--again");
    if (flags.plain) command.emplace_back("--plain");
    good = gpu_check::run_program(command) == 0 && good;
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
  app.add_flag("--again", flags.again, "Do everything again");
  app.add_flag("--plain", flags.plain, "ASCII only, no colour");
  app.footer(list);
  if (const std::optional<int> code = parse(app, argc, argv)) return *code;
  return run_parts(flags);
}

}  // namespace tinymp::lab
