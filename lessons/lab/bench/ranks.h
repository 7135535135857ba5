#pragma once

#include <lessons/lab/bench/race.h>
#include <lessons/lab/report/table.h>
#include <tinymp/numeric/dtype.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

/// Training with one and two processes on the same two cores.
namespace tinymp::kernels::bench {

/// One way to share the samples of a step.
struct RanksCase {
  std::string model;           ///< "mlp", "lenet"
  int ranks = 1, threads = 1;  ///< processes, and threads of each
  std::int64_t batch = 64;     ///< of each rank
  DType wire = DType::f32;     ///< in which gradients travel; f32: as they are
  std::int64_t steps = 100;    ///< that are timed
  std::int64_t samples() const { return ranks * batch; }
};

/// What a rank measured; that of rank 0 counts.
struct RanksFigures {
  int rank = 0;
  double seconds = 0;  ///< of a step
  double waits = 0;    ///< share of that in Exchange::wait(): for messages, and for a rank that is slower
  double bytes = 0;    ///< that rank 0 sends in a step
};

struct RanksRow {
  RanksCase measured;
  RanksFigures median{};
  double speedup = 0;  ///< samples a second / those of one rank with one thread
};

struct RanksReport {
  std::vector<RanksRow> rows{};
  nlohmann::ordered_json json() const;
  report::Table table() const;
  std::string notes() const;
};

/// For each model: one rank with one thread and with two, two ranks with half of the batch each (strong scaling) and with the
/// whole (weak), as they are and in FP16.
std::vector<RanksCase> ranks_cases(bool quick);

/// Trains on made-up images, in this process alone or as one of the ranks that mpirun has started.
RanksFigures measure_ranks(const RanksCase& wanted);

/// Each case in processes of its own, `rounds` times in turn; medians. Throws MissingError without MPI, and Error when a
/// process fails.
RanksReport bench_ranks(bool quick, const std::function<void(const std::string& next)>& progress);

/// The case in the words of a command line, and back. Throws UsageError for other words.
std::vector<std::string> words_of(const RanksCase& wanted);
RanksCase case_from(const std::vector<std::string>& words);

}  // namespace tinymp::kernels::bench
