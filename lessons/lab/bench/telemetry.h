#pragma once

#include <lessons/lab/bench/race.h>
#include <lessons/lab/report/table.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// What it costs a training run to be watched.
namespace tinymp::kernels::bench {

struct Telemetry {
  std::int64_t steps = 0, every = 50, histograms_every = 100;
  double plain_seconds = 0;          ///< of a run that logs its first and last step only; median
  std::vector<double> logged{};      ///< each run that logs every 50 steps / the plain run beside it
  std::vector<double> shadowed{};    ///< the same for one that also counts flushed gradients every 50 steps
  std::vector<double> histograms{};  ///< ... for one that logs, and takes histograms every 100 steps
  std::vector<double> all{};         ///< ... for one that does all of this
  /// What every run, the plain one too, does for a report of its first bad tensor: each step looked at, all
  /// copied every 128 steps; timed by itself / the plain run. (The watch over step 1 is not in it: that is
  /// paid once, by a run of whatever length.)
  std::vector<double> copies{};

  double cost_of_all() const;  ///< beside a run with nothing of this but the watch over its first step
  nlohmann::ordered_json json() const;
  report::Table table() const;
  std::string notes() const;
};

/// train::run on the MLP, batch 64, FP16 under dynamic scaling, on the images that come with tinymp. In each
/// of `pairs` rounds every kind of run has its turn, in changing order.
Telemetry bench_telemetry(int pairs, std::int64_t steps);

}  // namespace tinymp::kernels::bench
