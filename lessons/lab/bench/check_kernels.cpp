#include <fmt/format.h>
#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <fstream>

// Runs the test programs on a GPU.
namespace tinymp::lab::gpu_check {
namespace {

using Json = nlohmann::ordered_json;

struct Program {
  const char* name;
  bool on_gpu_only, has_cases;
};
constexpr Program programs[] = {{"test_cuda", false, true}, {"cuda_same_bits", true, false}};

std::vector<std::string> lines_of(const std::filesystem::path& log) {
  std::ifstream in(log);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

/// The test cases of a program of Catch2; none when it does not list them.
std::vector<std::string> cases_of(const Setting& setting, const std::string& program) {
  const std::filesystem::path log = setting.scratch / "cases.log";
  // Version 2 and version 3. Version 2 returns their number.
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"--list-test-names-only"}, {"--list-tests", "--verbosity", "quiet"}}) {
    std::vector<std::string> command{program};
    command.insert(command.end(), flags.begin(), flags.end());
    const Outcome listed = run_program(command, setting.deadline(20), log);
    std::vector<std::string> names = lines_of(log);
    if (!listed.timed_out && (listed.code == 0 || static_cast<std::size_t>(listed.code) ==
                                                      std::min<std::size_t>(names.size(), 255)))
      return names;
  }
  return {};
}

/// As Catch2 wants a name: its signs that mean something else are marked.
std::string quoted(const std::string& name) {
  std::string text;
  for (const char c : name) {
    if (c == ',' || c == '[' || c == '*' || c == '\\' || c == '"') text += '\\';
    text += c;
  }
  return text;
}

/// After a fault on the GPU all later cases of a process fail, so each runs in its own. Adds those that fail.
int add_failing_cases(const Setting& setting, const Program& program, Finding& finding) {
  const std::string path = (setting.tests / program.name).string();
  const std::vector<std::string> cases = cases_of(setting, path);
  if (cases.empty()) finding.table.push_back({"  its cases", "cannot be listed"});
  int failed = 0;
  for (const std::string& name : cases) {
    const std::filesystem::path log = setting.scratch / "case.log";
    const Outcome outcome = run_program({path, quoted(name)}, setting.deadline(30), log);
    if (outcome.good()) continue;
    ++failed;
    finding.table.push_back({concat("  ", name), outcome.text()});
    keep(finding, setting,
         {{"program", program.name}, {"case", name}, {"outcome", outcome.text()}, {"output", lines_of(log)}});
  }
  return failed;
}

}  // namespace

Finding check_kernels(const Setting& setting) {
  Finding finding{.table = {{"program", "outcome"}}};
  int run = 0, failed = 0, late = 0, cases = 0;
  for (const Program& program : programs) {
    if (program.on_gpu_only && setting.emulated) continue;
    const std::filesystem::path log = setting.scratch / (std::string(program.name) + ".log");
    const Outcome outcome =
        run_program({(setting.tests / program.name).string()}, setting.deadline(120), log);
    const std::string text = outcome.said_something() ? last_line_of(log) : outcome.text();
    ++run;
    failed += !outcome.good() && !outcome.timed_out;
    late += outcome.timed_out;
    finding.table.push_back({program.name, text});
    keep(finding, setting, {{"program", program.name}, {"exit_code", outcome.code}, {"outcome", text}});
    if (!outcome.good() && outcome.code != -1 && program.has_cases && !setting.is_over())
      cases += add_failing_cases(setting, program, finding);
  }
  finding.state = state_of(failed + cases, late);
  finding.unfinished = late > 0 && cases == 0;  // else a case hangs, and it is named
  if (finding.state == State::good)
    finding.summary = fmt::format("{} test program(s) pass", run);
  else
    finding.summary = fmt::format(
        "{} of {} test programs fail{}, {} of their cases alone; their output is in {}", failed, run,
        late > 0 ? concat(", ", late, " took too long") : "", cases, setting.scratch.string());
  return finding;
}

namespace {

/// What runs under compute-sanitizer, in small.
struct Watched {
  const char* what;
  std::vector<std::string> command;
  double seconds;  ///< for each tool
};
std::vector<Watched> watched_by(const Setting& setting) {
  const std::string tests = (setting.tests / "test_cuda").string(),
                    measure = (setting.programs / "measure").string();
  return {
      {"every op in FP16", {tests, "every op in f16: gradients*"}, 90},
      {"the ladder, FP16",
       {measure, "bench", "gemm", "--size", "128", "--format", "f16", "--alone", "--plain"},
       60},
      {"the ladder, sums in FP16",
       {measure, "bench", "gemm", "--size", "128", "--format", "f16", "--sums", "f16", "--alone", "--plain"},
       60},
      {"an eager step of each model", {tests, "rungs*"}, 60},
      {"steps of three models as graphs", {tests, "a run of LeNet*"}, 90}};
}

constexpr const char* checks[] = {"memcheck", "racecheck", "synccheck", "initcheck"};
constexpr const char* not_reached = "not reached: the time of the part is over";

std::string name_of(const char* check, const Watched& watched) { return concat(check, ", ", watched.what); }

/// A run that took too long before gets three times as long.
Json watch(const Setting& setting, const std::string& tool, const char* check, const Watched& watched,
           const Json& before) {
  std::string file = "sanitizer_" + name_of(check, watched) + ".log";
  std::ranges::replace_if(
      file, [](char c) { return c == ' ' || c == ','; }, '_');
  const std::filesystem::path said = setting.scratch / file;
  std::vector<std::string> command{tool, "--tool", check, "--error-exitcode", "9"};
  command.insert(command.end(), watched.command.begin(), watched.command.end());
  const double longer = before.is_object() && before.value("timed_out", false) ? 3 : 1;
  const Outcome outcome = run_program(command, setting.deadline(longer * watched.seconds), said);
  return {{"tool", check},
          {"program", watched.what},
          {"good", outcome.good()},
          {"timed_out", outcome.timed_out},
          {"exit_code", outcome.code},
          {"outcome", outcome.said_something() ? last_line_of(said) : outcome.text()},
          {"log", file}};
}

}  // namespace

Finding check_sanitizer(const Setting& setting) {
  Finding finding{.table = {{"tool", "program", "outcome"}}};
  const auto left_out = [&](std::string why) {
    return Finding{.state = State::left_out, .summary = std::move(why)};
  };
  if (setting.emulated)
    return left_out("compute-sanitizer watches GPUs; emulated kernels meet ASan and TSan in the tests");
  const std::filesystem::path log = setting.scratch / "sanitizer.log";
  const auto is_there = [&](const std::string& tool) {
    return run_program({tool, "--version"}, 30, log).good();
  };
  std::string tool = "compute-sanitizer";
  if (!is_there(tool)) tool = "/usr/local/cuda/bin/compute-sanitizer";
  if (!is_there(tool)) return left_out("compute-sanitizer is not installed");
  const std::vector<Watched> programs = watched_by(setting);
  std::vector<std::string> names;
  for (const Watched& watched : programs)
    for (const char* check : checks) names.push_back(name_of(check, watched));
  ResumedRows rows(setting, names);
  int failed = 0, late = 0, missing = 0;
  // Each program under every tool before the next: where the time ends early, the first has been watched by all.
  for (const Watched& watched : programs) {
    for (const char* check : checks) {
      const Json row = rows.row(name_of(check, watched), [&](const Json& before) {
        return watch(setting, tool, check, watched, before);
      });
      missing += row.is_null();
      const bool ended = row.is_null() || !row.value("timed_out", false);
      late += !ended;
      failed += !row.is_null() && ended && !row.value("good", false);
      finding.table.push_back({check, watched.what, row.is_null() ? not_reached : row.value("outcome", "")});
      if (!row.is_null()) finding.data.push_back(row);
    }
  }
  finding.unfinished = late + missing > 0;
  finding.state = state_of(failed, late + missing);
  if (finding.state == State::good)
    finding.summary = "memcheck, racecheck, synccheck and initcheck find nothing in ops, ladder and steps";
  else
    finding.summary =
        fmt::format("of {} runs under a tool {} end badly, {} took too long, {} were not reached; see {}",
                    names.size(), failed, late, missing, setting.scratch.string());
  return finding;
}

}  // namespace tinymp::lab::gpu_check
