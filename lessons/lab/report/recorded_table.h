#pragma once

#include <lessons/lab/report/table.h>
#include <cstdint>
#include <string>
#include <vector>

/// The list of what is recorded.
namespace tinymp::report {

/// "finished", "interrupted", "running" while a program writes the log, or "diverged" when the last loss or
/// the result is not finite.
std::string state_of(const Run& run);

/// Seconds since 1970 of "2026-05-04T09:30:00Z"; -1 for another text.
std::int64_t seconds_of(const std::string& utc);

/// "12 s", "5 min", "3 h", "12 d", "2 y" between two times; "" when either is not known.
std::string age_text(std::int64_t then, std::int64_t now);

/// What stands between recipe and seed.
enum class RunColumns {
  model,    ///< model and data
  weights,  ///< the hash of the weights (train::weights_hash), "-" where the run has none
};

struct RecordedView {
  std::int64_t now = -1;                   ///< seconds since 1970
  RunColumns columns = RunColumns::model;  ///< what stands between recipe and seed
  std::string folder = "runs";             ///< names are paths below it
  bool unicode = true;
};

/// One row a run, the newest first: name, recipe, COLUMNS, seed, result, state, age. 80 columns hold it.
Table recorded_table(std::vector<Run> runs, const RecordedView& view);

}  // namespace tinymp::report
