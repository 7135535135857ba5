#include <tinymp/dist/mpi.h>
#include <cstdlib>

// In place of mpi/mpi.cpp, in a build without MPI.
namespace tinymp::dist {

bool has_mpi() { return false; }

std::unique_ptr<Transport> join_mpi(const MpiOptions&) {
  throw MissingError(
      "this build has no MPI; install it (Debian: libopenmpi-dev and openmpi-bin), then build again: CMake "
      "takes it where it is there");
}

void end_all(int exit_code) { std::_Exit(exit_code); }

}  // namespace tinymp::dist
