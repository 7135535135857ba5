#include <fmt/format.h>
#include <kernels/cuda/gemm/ladder.h>
#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/base/error.h>
#include <fstream>
#include <iostream>

// Runs the ladder in every combination of formats that it takes. Each rung has a process of its own (./learn bench
// gemm --rung): after a faulty one the figures of the others stand.
namespace tinymp::lab::gpu_check {
namespace {

using Json = nlohmann::ordered_json;

struct Formats {
  const char *operands, *sums;
};
constexpr Formats all[] = {{"f16", "f32"}, {"f16", "f16"}, {"bf16", "f32"}, {"f32", "f32"}};

}  // namespace

Json bench_gemm(const Setting& setting, const std::vector<std::string>& flags, std::string& fault) {
  const std::filesystem::path json = setting.scratch / "gemm.json", log = setting.scratch / "gemm.log";
  std::filesystem::remove(json);
  std::vector<std::string> command{
      (setting.programs / "measure").string(), "bench", "gemm", "--plain", "--out", json.string()};
  command.insert(command.end(), flags.begin(), flags.end());
  const Outcome outcome = run_program(command, setting.deadline(60), log);
  if (outcome.code == 2) return nullptr;
  std::ifstream in(json);
  Json report = in.is_open() ? Json::parse(in, nullptr, /*allow_exceptions=*/false) : Json(nullptr);
  if (report.is_object() && !report.is_discarded()) return report;
  fault = concat(outcome.text(), ": ", last_line_of(log));
  return nullptr;
}

std::string number(const Json& value, const char* format, double unit) {
  return value.is_number() ? fmt::format(fmt::runtime(format), unit * value.get<double>()) : std::string("-");
}

Finding check_gemm(const Setting& setting) {
  const int size = setting.emulated ? 64 : 4096;
  Finding finding{.table = {{"operands", "sums", "rung", "ms", "TFLOP/s", "of cuBLAS", "of the limit"}}};
  int wrong = 0;
  double best = 0;
  std::string no_cublas;
  for (const Formats& formats : all) {
    for (const kernels::RungRules& rung : kernels::ladder) {
      std::cerr << "  " << rung.name << ", " << formats.operands << ", sums in " << formats.sums << "\n";
      std::string fault;
      const Json report = bench_gemm(setting,
                                     {"--rung", std::string(rung.name), "--format", formats.operands,
                                      "--sums", formats.sums, "--size", concat(size)},
                                     fault);
      if (report.is_null() && fault.empty()) continue;
      std::vector<std::string> row{formats.operands, formats.sums, std::string(rung.name)};
      if (report.is_null()) {
        ++wrong;
        row.insert(row.end(), {"FAILED", fault, "-", "-"});
        keep(finding, setting,
             {{"format", formats.operands}, {"sums", formats.sums}, {"rung", rung.name}, {"fault", fault}});
      } else {
        const Json& figures = report["rows"][0];
        const bool right = figures.value("right", false);
        wrong += !right;
        if (no_cublas.empty()) no_cublas = report["cublas"].value("why_not", "");
        row.insert(row.end(),
                   {right ? number(figures["milliseconds"], "{:.3f}") : "WRONG",
                    number(figures["tflops"], "{:.1f}"), number(figures["share_of_cublas"], "{:.1f} %", 100),
                    number(figures["share_of_limit"], "{:.1f} %", 100)});
        if (formats.operands == std::string_view("f16") && formats.sums == std::string_view("f32") &&
            figures["share_of_cublas"].is_number())
          best = std::max(best, figures["share_of_cublas"].get<double>());
        keep(finding, setting, report);
      }
      finding.table.push_back(std::move(row));
    }
  }
  finding.state = wrong == 0 && finding.table.size() > 1 ? State::good : State::bad;
  finding.summary =
      finding.table.size() == 1 ? std::string("no rung was measured")
      : wrong > 0 ? fmt::format("{} of {} measured rungs fail or are wrong", wrong, finding.table.size() - 1)
      : best > 0  ? fmt::format("every rung is right; FP16 with FP32 sums reaches {:.0f} % of cuBLAS at {}",
                                100 * best, size)
                  : concat("every rung is right; no share of cuBLAS: ", no_cublas);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
