#pragma once

#include <lessons/lab/bench/cpu_product.h>
#include <lessons/lab/bench/openblas.h>
#include <lessons/lab/bench/pytorch.h>
#include <lessons/lab/bench/race.h>
#include <lessons/lab/report/table.h>
#include <functional>
#include <nlohmann/json.hpp>

/// Times our matrix product on this CPU, beside OpenBLAS, PyTorch and the peak of the processor.
namespace tinymp::kernels::bench {

using Progress = std::function<void(const std::string&)>;

struct CpuGemmRow {
  ProductShape shape;
  ProductFormat format;
  std::string fault{};  ///< what is wrong with our result; empty when right, else nothing is timed
  Timing ours{}, openblas{},
      pytorch{};  ///< OpenBLAS in FP32, whatever the format; PyTorch in the same format
  std::string no_openblas{}, no_pytorch{};  ///< why it was not timed
  double peak = 0;     ///< GFLOP/s of multiply-adds alone, timed between the samples; 0: not measured
  double of_fp32 = 0;  ///< our FP32 time / this time
};

struct FmaPeak {
  std::string instructions;
  double one_thread, all_threads;  ///< GFLOP/s
};

struct CpuGemmReport {
  std::vector<FmaPeak> peaks{};
  nlohmann::ordered_json openblas{}, pytorch{};  ///< versions, or "why_not"
  std::vector<CpuGemmRow> rows{};

  bool good() const;  ///< all results were right
  nlohmann::ordered_json json() const;
  report::Table table() const;
  std::string notes() const;
};

/// The facts about OpenBLAS and PyTorch for a report: versions, threads, or why they are missing.
nlohmann::ordered_json about(const OpenBlas& openblas);
nlohmann::ordered_json about(const PyTorch& pytorch);
/// The same in sentences. A null value gives no sentence.
std::string sentence_about(const nlohmann::ordered_json& openblas, const nlohmann::ordered_json& pytorch);

std::vector<ProductShape> squares(bool quick);
/// Forward, dx and dw of each layer of the MLP 784-128-10, batch 64, and the autoencoder 784-64-32-64-784,
/// batch 1024. A first layer has no dx, since images need no gradient.
std::vector<ProductShape> layers(bool quick);

/// Compares each product with chains of multiply-adds, and with the other libraries, before it is timed.
CpuGemmReport bench_cpu_gemm(const OpenBlas& openblas, PyTorch& pytorch, const RaceRules& rules, bool quick,
                             const Progress& progress);

}  // namespace tinymp::kernels::bench
