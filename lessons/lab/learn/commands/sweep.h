#pragma once

#include <lessons/lab/learn/commands/train_flags.h>

/// ./learn train with several recipes, learning rates or seeds: it trains the grid, and compares.
namespace tinymp::lab {

/// For --help.
extern const char* const about_sweeps;

/// True for flags that ask for more than one run, and for --seeds 1: the folders of a sweep.
bool is_sweep(const TrainFlags& flags);

/// Trains what is not recorded yet, compares all and returns the exit code. Throws UsageError, before
/// anything trains, for flags that have no meaning for several runs and for a folder with a run of another
/// request.
int sweep(const CLI::App& app, const TrainFlags& flags, int argc, char** argv);

}  // namespace tinymp::lab
