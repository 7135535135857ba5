#include <kernels/cuda/check.h>
#include <kernels/cuda/stream.h>
#include <kernels/graph.h>
#include <kernels/recording.h>

/// A CUDA graph out of what a function launches on the stream.
namespace tinymp::kernels::cuda {
namespace {

class CudaGraph : public LaunchableGraph {
 public:
  explicit CudaGraph(cudaGraph_t graph) : graph_(graph) {}
  ~CudaGraph() override {
    if (ready_ != nullptr) ignore(cudaGraphExecDestroy(ready_));
    ignore(cudaGraphDestroy(graph_));
  }
  CudaGraph(const CudaGraph&) = delete;
  CudaGraph& operator=(const CudaGraph&) = delete;

  std::size_t size() const {
    std::size_t count = 0;
    check(cudaGraphGetNodes(graph_, nullptr, &count), "graph");
    return count;
  }
  void prepare() { check(cudaGraphInstantiateWithFlags(&ready_, graph_, 0), "graph"); }
  void launch() override {
    check(cudaGraphLaunch(ready_, static_cast<cudaStream_t>(stream())), "launch of a graph");
  }

 private:
  cudaGraph_t graph_;
  cudaGraphExec_t ready_ = nullptr;
};

/// Ends the capture, also after an exception.
cudaGraph_t captured(const std::function<void()>& step) {
  const auto on = static_cast<cudaStream_t>(stream());
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal), "recording of a graph");
  try {
    step();
  } catch (...) {
    ignore(cudaStreamEndCapture(on, &graph));
    if (graph != nullptr) ignore(cudaGraphDestroy(graph));
    throw;
  }
  check(cudaStreamEndCapture(on, &graph), "recording of a graph");
  return graph;
}

}  // namespace

std::unique_ptr<LaunchableGraph> record_graph(const std::function<void()>& step, Recording& recording) {
  auto graph = std::make_unique<CudaGraph>(captured(step));
  expect(graph->size() == recording.nodes.size(), "a graph of ", graph->size(), " nodes was recorded, and ",
         recording.nodes.size(), " were launched");
  graph->prepare();
  return graph;
}

}  // namespace tinymp::kernels::cuda
