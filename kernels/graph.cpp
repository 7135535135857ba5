#include <kernels/cuda/executor.h>
#include <kernels/graph.h>
#include <kernels/recording.h>

namespace tinymp::kernels {
namespace {

/// While it lives, this thread records.
class RecordingRegion {
 public:
  explicit RecordingRegion(Recording& to) {
    expect(recording == nullptr, "a graph is being recorded already; graphs do not nest");
    recording = &to;
  }
  ~RecordingRegion() { recording = nullptr; }
  RecordingRegion(const RecordingRegion&) = delete;
  RecordingRegion& operator=(const RecordingRegion&) = delete;
};

/// The emulation launches kernel by kernel.
class EmulatedGraph : public LaunchableGraph {
 public:
  explicit EmulatedGraph(std::vector<std::function<void()>> launches) : launches_(std::move(launches)) {}
  void launch() override {
    for (const std::function<void()>& launch : launches_) launch();
  }

 private:
  std::vector<std::function<void()>> launches_;
};

}  // namespace

Graph::Graph(const std::function<void()>& step) {
  const bool on_gpu = executor() == Executor::gpu;
  Recording made;
  {
    const RecordingRegion region(made);
    if (on_gpu) {
      graph_ = cuda::record_graph(step, made);
    } else {
      step();
    }
  }
  nodes_ = std::move(made.nodes);
  if (!on_gpu) graph_ = std::make_unique<EmulatedGraph>(std::move(made.launches));
}

}  // namespace tinymp::kernels
