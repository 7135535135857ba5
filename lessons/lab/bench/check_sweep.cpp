#include <fmt/format.h>
#include <kernels/cuda/gemm/ladder.h>
#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/base/error.h>
#include <algorithm>

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
                               {"autoencoder, forward", 1024, 64, 784, "none"},
                               {"autoencoder, last layer", 1024, 784, 64, "none"},
                               {"autoencoder, weight gradient", 784, 64, 1024, "a"},
                               {"wide MLP, forward", 2048, 4096, 4096, "none"},
                               {"wide MLP, gradient", 2048, 4096, 4096, "b"},
                               {"wide MLP, weight gradient", 4096, 4096, 2048, "a"},
                               {"word model, logits", 8192, 8192, 32, "none"},
                               {"word model, gradient", 8192, 32, 8192, "b"},
                               {"word model, weight gradient", 32, 8192, 8192, "a"}};
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

}  // namespace

Finding check_sweep(const Setting& setting) {
  Finding finding{
      .table = {{"product", "M,N,K", "transposed", "format", "rung", "us", "TFLOP/s", "of cuBLAS"}}};
  int wrong = 0;
  double least = 0;
  for (const Product& product : products_of(setting.emulated)) {
    for (const char* const format : {"f16", "bf16"}) {
      std::string rung, fault;
      const Json report = of_best_rung(setting, product, format, rung, fault);
      std::vector<std::string> row{product.what, fmt::format("{},{},{}", product.M, product.N, product.K),
                                   product.transposed, format, rung};
      if (report.is_null()) {
        ++wrong;
        row.insert(row.end(), {"FAILED", fault, "-"});
        keep(finding, setting,
             {{"product", product.what},
              {"M", product.M},
              {"N", product.N},
              {"K", product.K},
              {"transposed", product.transposed},
              {"format", format},
              {"rung", rung},
              {"fault", fault}});
      } else {
        const Json& figures = report["rows"][0];
        const bool right = figures.value("right", false);
        wrong += !right;
        row.insert(row.end(), {right ? number(figures["milliseconds"], "{:.1f}", 1e3) : "WRONG",
                               number(figures["tflops"], "{:.1f}"),
                               number(figures["share_of_cublas"], "{:.1f} %", 100)});
        if (figures["share_of_cublas"].is_number()) {
          const auto share = figures["share_of_cublas"].get<double>();
          least = least > 0 ? std::min(least, share) : share;
        }
        keep(finding, setting, report);
      }
      finding.table.push_back(std::move(row));
    }
  }
  finding.state = wrong == 0 ? State::good : State::bad;
  finding.summary =
      wrong > 0 ? fmt::format("{} products fail or are wrong", wrong)
      : least > 0
          ? fmt::format("every product is right, and reaches at least {:.0f} % of cuBLAS", 100 * least)
          : std::string("every product is right; cuBLAS was not beside it");
  return finding;
}

}  // namespace tinymp::lab::gpu_check
