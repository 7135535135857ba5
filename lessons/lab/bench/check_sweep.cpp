#include <fmt/format.h>
#include <kernels/cuda/gemm/ladder.h>
#include <kernels/profile.h>
#include <lessons/lab/bench/gemm.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/sweep_kernels.h>
#include <tinymp/base/error.h>
#include <algorithm>
#include <functional>

// The best rung beside cuBLAS over sizes and layouts, and on the products of the course's models.
namespace tinymp::lab::gpu_check {
namespace {

using Json = nlohmann::ordered_json;

struct Product {
  std::string what;
  int M, N, K;
  const char* transposed;  ///< as bench gemm takes it
};

std::vector<Product> products_of(bool emulated) {
  std::vector<Product> products;
  for (const int size : emulated ? std::vector{64, 128} : std::vector{512, 1024, 2048, 4096, 8192}) {
    for (const char* const transposed : {"none", "a", "b"})
      products.push_back({"square", size, size, size, transposed});
  }
  if (emulated) return products;
  const Product of_models[] = {{"MLP, forward", 64, 128, 784, "none"},
                               {"MLP, weight gradient", 784, 128, 64, "a"},
                               {"MLP, head", 64, 10, 128, "none"},
                               {"MLP, head's gradient", 64, 128, 10, "b"},
                               {"autoencoder, forward", 1024, 64, 784, "none"},
                               {"autoencoder, last layer", 1024, 784, 64, "none"},
                               {"autoencoder, weight gradient", 784, 64, 1024, "a"},
                               {"wide MLP, forward", 2048, 4096, 4096, "none"},
                               {"wide MLP, gradient", 2048, 4096, 4096, "b"},
                               {"wide MLP, weight gradient", 4096, 4096, 2048, "a"},
                               {"LeNet, first layer", 64, 120, 400, "none"},
                               {"LeNet, second layer", 64, 84, 120, "none"},
                               {"LeNet, head", 64, 10, 84, "none"},
                               {"LeNet, first weight gradient", 400, 120, 64, "a"},
                               {"ResNet-20, head", 128, 10, 64, "none"},
                               {"ResNet-20, head's gradient", 128, 64, 10, "b"},
                               {"word model, gates of a step", 512, 128, 32, "none"},
                               {"word model, logits", 8192, 8192, 32, "none"},
                               {"word model, gradient", 8192, 32, 8192, "b"},
                               {"word model, weight gradient", 32, 8192, 8192, "a"},
                               {"decoder, query", 4096, 256, 256, "none"},
                               {"decoder, wide layer", 4096, 1024, 256, "none"},
                               {"decoder, narrow layer", 4096, 256, 1024, "none"},
                               {"decoder, logits", 4096, 4096, 256, "b"}};
  products.insert(products.end(), std::begin(of_models), std::end(of_models));
  return products;
}

/// The report on the highest rung that takes the format; null, with `fault`, when the process fails.
Json of_best_rung(const Setting& setting, const Product& product, const char* format, std::string& rung,
                  std::string& fault) {
  std::vector<std::string> flags{"--format", format, "--transposed", product.transposed};
  for (const auto& [name, size] : {std::pair{"--m", product.M}, {"--n", product.N}, {"--k", product.K}})
    flags.insert(flags.end(), {name, concat(size)});
  for (auto i = kernels::ladder.rbegin(); i != kernels::ladder.rend(); ++i) {
    std::vector<std::string> one = flags;
    one.insert(one.end(), {"--rung", std::string(i->name)});
    rung = i->name;
    const Json report = bench_gemm(setting, one, fault);
    if (!report.is_null() || !fault.empty()) return report;
  }
  fault = "no rung takes it";
  return nullptr;
}

/// The rows of this part, each measured once: those of a run that was interrupted are there already.
class Rows {
 public:
  Rows(Finding& finding, const Setting& setting)
      : finding_(&finding), setting_(&setting), before_(kept_rows(setting)) {}

  /// `measure` returns {"right": ..., "rung": ..., "parts": ..., "milliseconds": ..., "tflops": ..., "share_of_cublas": ...,
  /// "share_of_cublaslt": ...}, or {"fault": ...}; null where it is not known.
  void add(const std::string& what, const std::string& sizes, const std::string& transposed,
           const std::string& format, const std::function<Json()>& measure) {
    const std::string name = fmt::format("{} {} {} {}", what, sizes, transposed, format);
    Json row = measured_before(name);
    if (!row.is_null()) {
      finding_->data.push_back(row);
    } else {
      row = {
          {"row", name}, {"product", what}, {"sizes", sizes}, {"transposed", transposed}, {"format", format}};
      if (!setting_->is_over()) row.update(measure());
      if (setting_->is_over() && !row.value("right", false)) {  // cut off, it says nothing
        ++missing;
        finding_->table.push_back({what, sizes, transposed, format, "-", "not reached", "-", "-", "-"});
        return;
      }
      keep(*finding_, *setting_, row);
    }
    std::vector<std::string> cells{what, sizes, transposed, format,
                                   kernels::bench::with_parts(row.value("rung", "-"), row.value("parts", 1))};
    const bool right = row.value("right", false);
    wrong += !right;
    if (row.contains("fault")) {
      cells.insert(cells.end(), {"FAILED", row["fault"].get<std::string>(), "-", "-"});
    } else {
      const Json& share = row["share_of_cublas"];
      cells.insert(cells.end(), {right ? number(row["milliseconds"], "{:.1f}", 1e3) : "WRONG",
                                 number(row["tflops"], "{:.1f}"), number(share, "{:.1f} %", 100),
                                 number(row.value("share_of_cublaslt", Json(nullptr)), "{:.1f} %", 100)});
      if (share.is_number()) least = least > 0 ? std::min(least, share.get<double>()) : share.get<double>();
    }
    finding_->table.push_back(std::move(cells));
  }
  int wrong = 0, missing = 0;
  double least = 0;  ///< share of cuBLAS

 private:
  Json measured_before(const std::string& name) const {
    for (const Json& row : before_)
      if (row.value("row", "") == name && row.value("right", false)) return row;
    return nullptr;
  }

  Finding* finding_;
  const Setting* setting_;
  Json before_;
};

Json by_bench_gemm(const Setting& setting, const Product& product, const char* format) {
  std::string rung, fault;
  const Json report = of_best_rung(setting, product, format, rung, fault);
  if (report.is_null()) return {{"rung", rung}, {"fault", fault}};
  const Json& figures = report["rows"][0];
  Json row{{"rung", rung}, {"right", figures.value("right", false)}, {"parts", figures.value("parts", 1)}};
  for (const char* const name : {"milliseconds", "tflops", "share_of_cublas", "share_of_cublaslt"})
    row[name] = figures.value(name, Json(nullptr));
  row["report"] = report;
  return row;
}

/// The tests compare what these kernels compute; here they are only timed.
Json timed(const Setting& setting, const SweepKernel& kernel) {
  try {
    const std::function<void()> run = kernel.prepare();
    std::string rung;
    {
      const kernels::Profile profile;
      run();
      for (const kernels::ProfileLine& line : profile.lines())
        if (!line.way.empty()) rung = line.way;
    }
    const double seconds = seconds_on_gpu(setting, run);
    return {{"rung", rung.empty() ? "by definition" : rung},
            {"right", true},
            {"milliseconds", 1e3 * seconds},
            {"tflops", 2e-12 * kernel.multiplications / seconds},
            {"share_of_cublas", nullptr},
            {"share_of_cublaslt", nullptr}};
  } catch (const std::exception& error) {
    return {{"fault", error.what()}};
  }
}

}  // namespace

Finding check_sweep(const Setting& setting) {
  Finding finding{
      .table = {{"product", "M,N,K", "transposed", "format", "rung", "us", "TFLOP/s", "of cuBLAS", "of Lt"}}};
  Rows rows(finding, setting);
  for (const Product& product : products_of(setting.emulated)) {
    for (const char* const format : {"f16", "bf16"})
      rows.add(product.what, fmt::format("{},{},{}", product.M, product.N, product.K), product.transposed,
               format, [&] { return by_bench_gemm(setting, product, format); });
  }
  // In this process, so last: after a fault a process has lost its GPU.
  for (const SweepKernel& kernel : sweep_kernels(setting.emulated))
    rows.add(kernel.what, kernel.sizes, kernel.transposed, kernel.format,
             [&] { return timed(setting, kernel); });
  finding.unfinished = rows.missing > 0;
  finding.state = state_of(rows.wrong, rows.missing);
  finding.summary =
      rows.wrong > 0
          ? fmt::format("{} products fail or are wrong, {} were not reached", rows.wrong, rows.missing)
      : rows.missing > 0
          ? fmt::format("the time was over before {} of {} products", rows.missing, finding.table.size() - 1)
      : rows.least > 0
          ? fmt::format("every product is right, and reaches at least {:.0f} % of cuBLAS", 100 * rows.least)
          : std::string("every product is right; cuBLAS was not beside it");
  return finding;
}

}  // namespace tinymp::lab::gpu_check
