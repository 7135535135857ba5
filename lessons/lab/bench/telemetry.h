#pragma once

#include <lessons/lab/bench/race.h>
#include <lessons/lab/report/table.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Measures what logs and meters cost a training run.
namespace tinymp::kernels::bench {

struct Telemetry {
  std::int64_t steps = 0, every = 50, histograms_every = 100;
  double plain_seconds = 0;          ///< median seconds of a run that logs its first and last step only
  std::vector<double> logged{};      ///< runs that log every 50 steps / the plain run beside each
  std::vector<double> shadowed{};    ///< the same, and counts flushed gradients every 50 steps
  std::vector<double> histograms{};  ///< logs, and takes histograms every 100 steps
  std::vector<double> all{};         ///< all of these
  /// Every run, the plain one too, prepares for a report of its first bad tensor: it looks at each step and
  /// copies all state every 128 steps. This is the time of that alone / the plain run. The watch over step 1
  /// is not in it: a run pays for it once, whatever its length.
  std::vector<double> copies{};

  double cost_of_all() const;  ///< compared with a run that only watches its first step
  nlohmann::ordered_json json() const;
  report::Table table() const;
  std::string notes() const;
};

/// Runs train::run on the MLP, batch 64, FP16 under dynamic scaling, on the images that come with tinymp. In
/// each of `pairs` rounds every kind of run has one turn, in alternating order.
Telemetry bench_telemetry(int pairs, std::int64_t steps);

}  // namespace tinymp::kernels::bench
