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

/// Milliseconds of the fastest right rung, and of NVIDIA's libraries; 0: none.
struct Fastest {
  double ours = 0, cublas = 0, cublas_lt = 0;
};
void take(Fastest& fastest, const Json& report) {
  const Json& row = report["rows"][0];
  const auto smaller = [](double& least, const Json& value) {
    if (value.is_number() && (least == 0 || value.get<double>() < least)) least = value.get<double>();
  };
  if (row.value("right", false)) smaller(fastest.ours, row["milliseconds"]);
  for (auto& [name, least] :
       {std::pair<const char*, double&>{"cublas", fastest.cublas}, {"cublaslt", fastest.cublas_lt}})
    if (report.contains(name) && report[name].contains("milliseconds"))
      smaller(least, report[name]["milliseconds"]);
}

/// The papers say that FP16 is 2 to 6 times as fast as FP32. Here the multiplications bound both.
void add_claim(Finding& finding, const Setting& setting, const Fastest& f16, const Fastest& f32, int size) {
  const auto add = [&](const char* whose, double wide, double narrow) {
    const Json gain = narrow > 0 && wide > 0 ? Json(wide / narrow) : Json(nullptr);
    finding.table.push_back({"FP16 beside FP32", concat("math-bound, ", size), whose,
                             number(gain, "{:.2f} times"), "-", "-", "-", "-"});
    keep(finding, setting,
         {{"claim", "math-bound: FP32 time / FP16 time of a product"},
          {"whose", whose},
          {"size", size},
          {"gain", gain}});
  };
  add("the ladder", f32.ours, f16.ours);
  add("cuBLAS", f32.cublas, f16.cublas);
  add("cuBLASLt", f32.cublas_lt, f16.cublas_lt);
}

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
  Finding finding{
      .table = {{"operands", "sums", "rung", "ms", "TFLOP/s", "of cuBLAS", "of Lt", "of the limit"}}};
  int wrong = 0, missing = 0;
  double best = 0;
  std::string no_cublas;
  Fastest f16, f32;
  for (const Formats& formats : all) {
    const std::string_view operands = formats.operands;
    const bool wide_sums = formats.sums == std::string_view("f32");
    for (const kernels::RungRules& rung : kernels::ladder) {
      if (setting.is_over()) {
        ++missing;
        continue;
      }
      std::cerr << "  " << rung.name << ", " << formats.operands << ", sums in " << formats.sums << "\n";
      std::string fault;
      const Json report = bench_gemm(setting,
                                     {"--rung", std::string(rung.name), "--format", formats.operands,
                                      "--sums", formats.sums, "--size", concat(size)},
                                     fault);
      if (report.is_null() && fault.empty()) continue;
      if (report.is_null() && setting.is_over()) {  // cut off, it says nothing
        ++missing;
        continue;
      }
      std::vector<std::string> row{formats.operands, formats.sums, std::string(rung.name)};
      if (report.is_null()) {
        ++wrong;
        row.insert(row.end(), {"FAILED", fault, "-", "-", "-"});
        keep(finding, setting,
             {{"format", formats.operands}, {"sums", formats.sums}, {"rung", rung.name}, {"fault", fault}});
      } else {
        const Json& figures = report["rows"][0];
        const bool right = figures.value("right", false);
        wrong += !right;
        if (wide_sums && operands == "f16") take(f16, report);
        if (wide_sums && operands == "f32") take(f32, report);
        if (no_cublas.empty()) no_cublas = report["cublas"].value("why_not", "");
        row.insert(row.end(),
                   {right ? number(figures["milliseconds"], "{:.3f}") : "WRONG",
                    number(figures["tflops"], "{:.1f}"), number(figures["share_of_cublas"], "{:.1f} %", 100),
                    number(figures.value("share_of_cublaslt", Json(nullptr)), "{:.1f} %", 100),
                    number(figures["share_of_limit"], "{:.1f} %", 100)});
        if (operands == "f16" && wide_sums && figures["share_of_cublas"].is_number())
          best = std::max(best, figures["share_of_cublas"].get<double>());
        keep(finding, setting, report);
      }
      finding.table.push_back(std::move(row));
    }
  }
  const std::size_t measured = finding.table.size() - 1;
  if (measured > 0) add_claim(finding, setting, f16, f32, size);
  finding.unfinished = missing > 0;
  finding.state = measured == 0 && missing == 0 ? State::bad : state_of(wrong, missing);
  finding.summary =
      wrong == 0 && missing > 0
          ? fmt::format("the time was over after {} measurements of rungs, all right", measured)
      : measured == 0 ? std::string("no rung was measured")
      : wrong > 0     ? fmt::format("{} of {} measured rungs fail or are wrong", wrong, measured)
      : best > 0 ? fmt::format("every rung is right; FP16 with FP32 sums reaches {:.0f} % of cuBLAS at {}",
                               100 * best, size)
                 : concat("every rung is right; no share of cuBLAS: ", no_cublas);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
