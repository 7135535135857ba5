#pragma once

#include <tinymp/dist/transport.h>
#include <tinymp/dist/wire.h>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace CLI {
class App;
}

namespace tinymp::train {
struct Plan;
}

/// ./learn train with several processes: --ranks starts them, and mpirun may.
namespace tinymp::lab {

struct TrainFlags;

/// --ranks N.
void add_ranks_flag(CLI::App& app, std::int64_t& ranks);
/// --zero STAGE.
void add_zero_flag(CLI::App& app, std::int64_t& stage);

/// --pipeline.
void add_pipeline_flag(CLI::App& app, bool& pipeline);
/// Shares blocks: a step sees no more samples for it, and what measures the whole model is off. Throws UsageError for a plan that
/// cannot run as a pipeline, and for more ranks than blocks.
void choose_pipeline(const CLI::App& app, const TrainFlags& flags, train::Plan& plan);

/// --wire and --divide.
void add_wire_flags(CLI::App& app, std::string& format, std::string& divide);
/// How `ranks` ranks add up their gradients. Throws UsageError for one rank, and for --divide without --wire.
dist::Wire wire_from(const CLI::App& app, const std::string& format, const std::string& divide,
                     std::int64_t ranks);

/// The number of ranks of this process: those that mpirun has started, or that --ranks names; 0: it runs alone. Throws
/// UsageError where the two differ.
std::int64_t ranks_of(std::int64_t named);

/// Starts this command again, on so many ranks of this machine, and waits: mpirun -n 4 learn train ... Returns its exit
/// code. Throws MissingError in a build without MPI, and Error when there is no mpirun, or a rank was killed.
int start_ranks(std::int64_t ranks, int argc, char** argv);

/// Joins the ranks and runs `work`. Of several messages about one failure rank 0 alone gives one, or rank 1 where rank 0 is
/// lost. Returns the exit code of `work`; of ranks that had to end, those that give no message do not return.
int on_ranks(const std::function<int(dist::Transport&)>& work);

}  // namespace tinymp::lab
