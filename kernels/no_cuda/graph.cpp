#include <kernels/graph.h>
#include <tinymp/base/error.h>

namespace tinymp::kernels::cuda {

std::unique_ptr<LaunchableGraph> record_graph(const std::function<void()>&, Recording&) {
  throw MissingError("this build has no kernels for a GPU, so it records no graph of them");
}

}  // namespace tinymp::kernels::cuda
