#pragma once

#include <lessons/lab/bench/cpu_product.h>
#include <lessons/lab/bench/openblas.h>
#include <lessons/lab/bench/pytorch.h>
#include <lessons/lab/bench/race.h>
#include <lessons/lab/report/table.h>
#include <functional>
#include <nlohmann/json.hpp>

/// Our matrix product on this CPU, beside OpenBLAS, PyTorch and what the processor can do at most.
namespace tinymp::kernels::bench {

using Progress = std::function<void(const std::string&)>;

struct CpuGemmRow {
  ProductShape shape;
  ProductFormat format;
  std::string fault{};  ///< what is wrong with our result; empty when it is right, else nothing is timed
  Timing ours{}, openblas{},
      pytorch{};  ///< OpenBLAS in FP32, whatever the format; PyTorch in the same format
  std::string no_openblas{}, no_pytorch{};  ///< why it was not timed here
  double peak = 0;     ///< GFLOP/s of multiply-adds alone, between the samples; 0: not measured
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

/// What of OpenBLAS and PyTorch a report tells.
nlohmann::ordered_json about(const OpenBlas& openblas);
nlohmann::ordered_json about(const PyTorch& pytorch);
/// The same in sentences; what is null goes unmentioned.
std::string sentence_about(const nlohmann::ordered_json& openblas, const nlohmann::ordered_json& pytorch);

std::vector<ProductShape> squares(bool quick);
/// Forward, dx and dw of each layer of the MLP 784-128-10, batch 64, and the autoencoder 784-64-32-64-784,
/// batch 1024; no dx of a first layer, since images need no gradient.
std::vector<ProductShape> layers(bool quick);

/// Each product is compared with chains of multiply-adds, and with each other, before it is timed.
CpuGemmReport bench_cpu_gemm(const OpenBlas& openblas, PyTorch& pytorch, const RaceRules& rules, bool quick,
                             const Progress& progress);

}  // namespace tinymp::kernels::bench
