#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

/// The kernels of a step as one graph: launched with one call, where each kernel by itself costs the CPU some
/// microseconds. CUDA C++ Programming Guide, "CUDA Graphs".
///
///   const PrivatePool pool;                        // the graph's memory; nothing else may use it
///   std::optional<kernels::Graph> graph;
///   {
///     const PrivatePool::Region region(pool);
///     step(), step();                              // take all blocks that a step needs from the system
///     graph.emplace(step);
///   }
///   for (...) graph->launch();                     // does what step() would do, on the same memory
///
/// Kernels of all threads go to one stream. While one thread records, no other may use the device.
namespace tinymp::kernels {

/// A graph as an executor keeps it.
class LaunchableGraph {
 public:
  virtual ~LaunchableGraph() = default;
  virtual void launch() = 0;
};

class Graph {
 public:
  /// Calls `step` once. What it launches on Device::cuda is recorded and does not run. What it does on the CPU happens
  /// now and not again. Throws Error when step copies to or from the CPU, reads a value, or asks the system for memory:
  /// no graph can hold that (RefusedError). After an exception kernels run as before. Throws MissingError without an executor.
  explicit Graph(const std::function<void()>& step);

  /// Takes its turn among the kernels of the device; does not wait.
  void launch() const { graph_->launch(); }
  /// The names of the kernels, and "copy", in their order.
  const std::vector<std::string>& nodes() const { return nodes_; }

 private:
  std::vector<std::string> nodes_;
  std::unique_ptr<LaunchableGraph> graph_;
};

struct Recording;
namespace cuda {
/// Records `step` for the GPU; `recording` receives the names.
std::unique_ptr<LaunchableGraph> record_graph(const std::function<void()>& step, Recording& recording);
}  // namespace cuda

}  // namespace tinymp::kernels
