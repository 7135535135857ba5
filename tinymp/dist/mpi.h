#pragma once

#include <tinymp/dist/transport.h>
#include <chrono>
#include <memory>
#include <optional>

/// Ranks that are processes which mpirun has started, on one machine or several. The library target tinymp_mpi has it.
namespace tinymp::dist {

/// False in a build without MPI: -DTINYMP_MPI=OFF, or CMake has found none.
bool has_mpi();

/// The ranks that mpirun, or srun, has started with this process; from its environment, without a call of MPI. Nothing
/// when it was started alone.
std::optional<int> ranks_started();

struct MpiOptions {
  /// Each process tells all others twice a second that it runs. One that is silent for so long is lost. A process that
  /// computes for longer is not: a thread of its own tells.
  std::chrono::milliseconds silence = std::chrono::seconds(10);
};

/// Joins the ranks; once in a process. Its end waits for the others, unless one is lost. Throws MissingError in a build without
/// MPI, and where MPI cannot serve threads that take turns.
std::unique_ptr<Transport> join_mpi(const MpiOptions& options = {});

/// Ends all processes at once: for one that has lost another rank, or failed. They may not be able to end by themselves.
[[noreturn]] void end_all(int exit_code);

}  // namespace tinymp::dist
