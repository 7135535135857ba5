#pragma once

#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gemm_case.h>
#include <lessons/lab/bench/limits.h>
#include <lessons/lab/report/table.h>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The GEMM ladder, rung by rung: is it right, and how fast.
namespace tinymp::kernels::bench {

struct GemmRequest {
  GemmShape shape;           ///< of the product that is timed
  std::optional<Rung> rung;  ///< one only; else all
  std::string results;       ///< a folder of reports that say which rungs have run on a GPU
};

struct GemmRow {
  Rung rung{};
  std::string left_out{};   ///< why the rung does not take the request; empty when it does
  int products = 0;         ///< compared with sums in double
  std::string fault{};      ///< the first that was wrong; empty when all are right
  double milliseconds = 0;  ///< median of single runs; 0 when it was wrong or left out
  int runs = 0;             ///< behind the median
  double tflops = 0;        ///< 2 M N K / time
  double cublas_share = 0;  ///< of cuBLAS with the same accumulator; 0: not known
  double limit_share = 0;   ///< of Limit::tflops; 0: not known
  bool run_on_gpu = false;  ///< a report in `results` says so
};

struct GemmReport {
  Machine machine{};
  GemmShape shape{};
  Limit limit{};
  double cublas_milliseconds = 0;  ///< 0: not known, and `no_cublas` says why
  std::string no_cublas{}, cublas_version{};
  std::vector<GemmRow> rows{};

  /// Some rung ran, and no one was wrong.
  bool good() const;
  /// "bench": "gemm", the request, the machine, one object in "rows" for each rung.
  nlohmann::ordered_json json() const;
  report::Table table() const;
  /// Lines below the table: what was left out, what was wrong, what the shares are of.
  std::string notes() const;
  /// TFLOP/s of a product in so many milliseconds.
  double rate(double milliseconds) const;
};

/// Every rung is compared with the oracle before it is timed: small ragged products in all four
/// transpositions, and the one that is asked for; c is poisoned first. A rung that is wrong is not timed.
/// `progress` hears what comes next.
/// @throws UsageError when the rung that is asked for does not take the request.
GemmReport bench_gemm(Executor& executor, const GemmRequest& request,
                      const std::function<void(const std::string&)>& progress);

/// The rungs that some report (*.json) in the folder, or in a folder below, calls right on a real GPU. A
/// folder that is not there holds none. Throws Error when a report cannot be read.
std::vector<Rung> rungs_run_on_gpu(const std::string& folder);

}  // namespace tinymp::kernels::bench
