#include <fmt/format.h>
#include <lessons/lab/bench/gemm.h>
#include <lessons/lab/bench/gpu_check.h>
#include <iostream>

// Runs the ladder in every combination of formats that it takes.
namespace tinymp::lab::gpu_check {

Finding check_gemm(const Setting& setting) {
  using namespace kernels;
  struct Formats {
    Format format;
    Sums sums;
  };
  constexpr Formats all[] = {{Format::f16, Sums::f32},
                             {Format::f16, Sums::f16},
                             {Format::bf16, Sums::f32},
                             {Format::f32, Sums::f32}};
  const std::unique_ptr<bench::Executor> executor = bench::executor();
  const int size = setting.emulated ? 64 : 4096;
  Finding finding{.table = {{"operands", "sums", "rung", "ms", "TFLOP/s", "of cuBLAS", "of the limit"}}};
  bool good = true;
  double best = 0;
  for (const Formats& formats : all) {
    const bench::GemmRequest request{.shape = {size, size, size, formats.format, formats.sums},
                                     .rung = {},
                                     .results = TINYMP_BENCH_RESULTS};
    const bench::GemmReport report = bench::bench_gemm(
        *executor, request, [](const std::string& next) { std::cerr << "  " << next << "\n"; });
    good = good && report.good();
    for (const bench::GemmRow& row : report.rows) {
      if (!row.left_out.empty()) continue;
      const auto share = [](double x) { return x > 0 ? fmt::format("{:.1f} %", 100 * x) : std::string("-"); };
      finding.table.push_back({std::string(name_of(formats.format)), std::string(name_of(formats.sums)),
                               std::string(rules_of(row.rung).name),
                               row.fault.empty() ? fmt::format("{:.3f}", row.milliseconds) : "WRONG",
                               fmt::format("{:.1f}", row.tflops), share(row.cublas_share),
                               share(row.limit_share)});
      if (formats.format == Format::f16 && formats.sums == Sums::f32) best = std::max(best, row.cublas_share);
    }
    finding.data.push_back(report.json());
  }
  finding.state = good ? State::good : State::bad;
  finding.summary =
      !good      ? "some rung gives wrong results"
      : best > 0 ? fmt::format("every rung is right; FP16 with FP32 sums reaches {:.0f} % of cuBLAS at {}",
                               100 * best, size)
                 : std::string("every rung is right; there is no cuBLAS to compare them with");
  return finding;
}

}  // namespace tinymp::lab::gpu_check
