#pragma once

#include <tinymp/train/run_log.h>
#include <string>
#include <vector>

/// Runs that another program recorded, from its table of steps.
namespace tinymp::report {

/// RunHeader::lesson of these runs.
inline constexpr const char* lesson_of_a_table = "csv";

/// The columns that csv_runs() knows, for --help: a line each.
extern const char* const columns_of_a_table;

/// Reads a CSV file with a header. Each row is a step of a run; rows with the same run, recipe, model, data, seed and
/// optimizer are one run, and may stand between those of another. Needs the columns step (or epoch) and loss.
/// A row without a loss adds its other values to the step before it. An empty field was not measured. The
/// path of a run is "FILE#RUN". `metric` (accuracy, mse, perplexity) picks the column that is the metric; ""
/// picks the first of these that is there. Throws Error naming file and line for anything else: a field that
/// is no number, steps that do not go up, a row that is shorter or longer than the header.
std::vector<train::Run> csv_runs(const std::string& path, const std::string& metric = "");

/// True for a name that ends in ".csv", however it is written.
bool is_csv(const std::string& path);

}  // namespace tinymp::report
