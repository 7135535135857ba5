#pragma once

#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gemm_case.h>
#include <lessons/lab/bench/limits.h>
#include <lessons/lab/report/table.h>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// The GEMM ladder: tells for each rung whether it is right, and how fast it is.
namespace tinymp::kernels::bench {

struct GemmRequest {
  GemmShape shape;           ///< the product that is timed
  std::optional<Rung> rung;  ///< one rung; empty: all
  std::string results;       ///< a folder of reports that name the rungs run on a GPU
  bool alone = false;  ///< without NVIDIA's libraries: under a tool that watches every kernel, theirs too
};

struct GemmRow {
  Rung rung{};
  std::string left_out{};   ///< why the rung does not take the request; empty when it does
  int products = 0;         ///< number of products compared with sums in double
  std::string fault{};      ///< the first wrong product; empty when all are right
  int parts = 1;            ///< of each sum of the product that is timed: as many as in training
  double milliseconds = 0;  ///< median of single runs; 0 when it was wrong or left out
  int runs = 0;             ///< number of runs behind the median
  double tflops = 0;        ///< 2 M N K / time
  std::array<double, yardsticks.size()>
      shares{};             ///< of each yardstick's speed, same accumulator; 0: not known
  double limit_share = 0;   ///< share of Limit::tflops; 0: not known
  bool run_on_gpu = false;  ///< a report in `results` says so
};

/// The time of the same product in a library of NVIDIA's.
struct YardstickRow {
  double milliseconds = 0;  ///< 0: not known, and `why_not` says why
  std::string why_not{}, version{};
};

struct GemmReport {
  Machine machine{};
  GemmShape shape{};
  Limit limit{};
  std::array<YardstickRow, yardsticks.size()> beside{};
  std::vector<GemmRow> rows{};

  /// At least one rung ran, and none was wrong.
  bool good() const;
  /// "bench": "gemm", the request, the machine, one object in "rows" for each rung.
  nlohmann::ordered_json json() const;
  report::Table table() const;
  /// The lines below the table: rungs left out, rungs that are wrong, the limit and the libraries of the shares.
  std::string notes() const;
  /// TFLOP/s of the product when it takes `milliseconds`.
  double rate(double milliseconds) const;
};

/// Compares every rung with the oracle before it is timed: small ragged products in all four transpositions,
/// and the requested one. c is poisoned first. A rung that splits sums does so where training would. A wrong rung is not timed. `progress` gets the name of each
/// next step. @throws UsageError when the requested rung does not take the request.
GemmReport bench_gemm(Executor& executor, const GemmRequest& request,
                      const std::function<void(const std::string&)>& progress);

/// "mma, 6 parts": the name of a rung that shares each sum among so many blocks.
std::string with_parts(const std::string& rung, int parts);

/// The rungs that a report (*.json) in the folder, or in a folder below, calls right on a real GPU. A missing
/// folder has none. Throws Error when a report cannot be read.
std::vector<Rung> rungs_run_on_gpu(const std::string& folder);
/// The same of a part of ./learn gpu-check ("memory"): whether a report has a good finding of a real GPU.
bool part_run_on_gpu(const std::string& folder, const std::string& part);
/// What is said of such a part, emulated, until there is one; then "".
std::string untested_mark(const std::string& folder, const std::string& part);

}  // namespace tinymp::kernels::bench
