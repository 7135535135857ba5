#include <fmt/format.h>
#include <lessons/lab/bench/gpu_check.h>

// Runs the test programs on a GPU.
namespace tinymp::lab::gpu_check {
namespace {

struct Program {
  const char* name;
  bool on_gpu_only;
};
constexpr Program programs[] = {{"test_cuda", false}, {"cuda_same_bits", true}};

}  // namespace

Finding check_kernels(const Setting& setting) {
  Finding finding{.table = {{"program", "outcome"}}};
  int run = 0, failed = 0;
  for (const Program& program : programs) {
    if (program.on_gpu_only && setting.emulated) continue;
    const std::filesystem::path log = setting.scratch / (std::string(program.name) + ".log");
    const int code = run_program({(setting.tests / program.name).string()}, log);
    const std::string outcome = code == -1 ? "cannot be started: is it built?" : last_line_of(log);
    ++run;
    failed += code != 0;
    finding.table.push_back({program.name, outcome});
    finding.data.push_back({{"program", program.name}, {"exit_code", code}, {"outcome", outcome}});
  }
  finding.state = failed == 0 ? State::good : State::bad;
  finding.summary = failed == 0 ? fmt::format("{} test program(s) pass", run)
                                : fmt::format("{} of {} test programs fail; their output is in {}", failed,
                                              run, setting.scratch.string());
  return finding;
}

Finding check_sanitizer(const Setting& setting) {
  Finding finding{.table = {{"tool", "outcome"}}};
  const auto left_out = [&](std::string why) {
    return Finding{.state = State::left_out, .summary = std::move(why)};
  };
  if (setting.emulated)
    return left_out("compute-sanitizer watches GPUs; emulated kernels meet ASan and TSan in the tests");
  const std::filesystem::path log = setting.scratch / "sanitizer.log";
  std::string tool = "compute-sanitizer";
  if (run_program({tool, "--version"}, log) != 0) tool = "/usr/local/cuda/bin/compute-sanitizer";
  if (run_program({tool, "--version"}, log) != 0) return left_out("compute-sanitizer is not installed");
  int failed = 0;
  for (const char* check : {"memcheck", "racecheck", "synccheck", "initcheck"}) {
    const std::filesystem::path said = setting.scratch / fmt::format("{}.log", check);
    const int code = run_program({tool, "--tool", check, "--error-exitcode", "9",
                                  (setting.tests / "test_cuda").string(), "every op in f16: gradients*"},
                                 said);
    failed += code != 0;
    finding.table.push_back({check, last_line_of(said)});
    finding.data.push_back({{"tool", check}, {"exit_code", code}, {"outcome", last_line_of(said)}});
  }
  finding.state = failed == 0 ? State::good : State::bad;
  finding.summary = failed == 0
                        ? "memcheck, racecheck, synccheck and initcheck find nothing"
                        : fmt::format("{} of 4 tools complain; see {}", failed, setting.scratch.string());
  return finding;
}

}  // namespace tinymp::lab::gpu_check
