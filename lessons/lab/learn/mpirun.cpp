#include <lessons/lab/learn/mpirun.h>
#include <tinymp/base/error.h>
#include <tinymp/base/parallel_for.h>
#include <algorithm>
#include <cstdlib>
#include <string>

namespace tinymp::lab {
namespace {

/// MPICH knows none of these names.
constexpr const char* settings[][2] = {
    {"OMPI_ALLOW_RUN_AS_ROOT", "1"},  // in a container there is nobody else
    {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
    {"OMPI_MCA_rmaps_base_oversubscribe", "1"},  // more ranks than cores
    {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"},
    {"OMPI_MCA_hwloc_base_binding_policy", "none"},  // else all threads of a rank share a core
    {"OMPI_MCA_btl_vader_single_copy_mechanism",
     "none"},  // containers forbid a process to read another one's memory
};

}  // namespace

void set_up_mpirun(std::int64_t ranks) {
  for (const auto& [name, value] : settings) setenv(name, value, 0);
  const std::string share = concat(std::max<std::int64_t>(1, threads() / ranks));
  setenv("TINYMP_THREADS", share.c_str(), 0);
}

}  // namespace tinymp::lab
