#include <tinymp/dist/mpi.h>
#include <charconv>
#include <cstdlib>
#include <string_view>

namespace tinymp::dist {

// Open MPI, then MPICH and SLURM's PMI-2. SLURM's PMIx tells the number of its tasks alone, as it does a process that runs
// no MPI; so PMIx's own variable must be there, too.
std::optional<int> ranks_started() {
  const auto number = [](const char* name) -> std::optional<int> {
    const char* const text = std::getenv(name);
    if (text == nullptr) return std::nullopt;
    const std::string_view digits(text);
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size() || value < 1) return std::nullopt;
    return value;
  };
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    if (const std::optional<int> found = number(name)) return found;
  return std::getenv("PMIX_RANK") != nullptr ? number("SLURM_NTASKS") : std::nullopt;
}

}  // namespace tinymp::dist
