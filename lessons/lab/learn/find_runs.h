#pragma once

#include <tinymp/train/run_log.h>
#include <string>
#include <vector>

/// Runs on disk, by the names that a user types.
namespace tinymp::lab {

/// Reads run logs, tables (*.csv), folders of logs and patterns ("runs/*/fp16*.jsonl", as a shell knows them), several
/// at once and in the order in which they are named; each file once, however often it is named. A file that is named
/// must be a run; in a folder what is none is left out, with a line on stderr. `metric` is for tables: csv_runs.h.
/// Throws UsageError for a name or pattern that meets nothing, Error for a file or folder without a run.
std::vector<train::Run> find_runs(const std::vector<std::string>& names, const std::string& metric = "");

/// Every *.jsonl in a folder and below, by name. Throws Error when the folder cannot be read.
std::vector<std::string> logs_below(const std::string& folder);

/// Reads logs and tables on all cores. The result of a file that is no run is empty, and `why` has the reason at its
/// place.
std::vector<std::vector<train::Run>> read_runs(const std::vector<std::string>& paths,
                                               const std::string& metric, std::vector<std::string>& why);

/// The newest folder below `folder` that holds a file with this ending, for a message: "; runs/q/train-001 has one", or
/// `otherwise` where there is none.
std::string one_below(const std::string& folder, const std::string& ending, const std::string& otherwise);

}  // namespace tinymp::lab
