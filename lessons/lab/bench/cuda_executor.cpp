#include <cuda_runtime_api.h>
#include <kernels/cuda/check.h>
#include <kernels/device.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/race.h>
#include <tinymp/base/error.h>

// This file has no kernel, so the host's compiler can compile it.
namespace tinymp::kernels::bench {
namespace {

using cuda::check;
using cuda::ignore;

std::string version(int (*ask)(cudaError_t&)) {
  cudaError_t status = cudaSuccess;
  const int number = ask(status);  // 13000 is 13.0
  return status == cudaSuccess ? concat(number / 1000, ".", number % 1000 / 10) : std::string();
}

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "an event"); }
  ~Event() { ignore(cudaEventDestroy(event_)); }
  Event(const Event&) = delete;
  void record() { check(cudaEventRecord(event_), "an event"); }
  cudaEvent_t get() const { return event_; }

 private:
  cudaEvent_t event_ = nullptr;
};

class Real : public Executor {
 public:
  Machine machine() const override {
    const auto attribute = [](cudaDeviceAttr which) {
      int device = 0, value = 0;
      check(cudaGetDevice(&device), "the device in use");
      check(cudaDeviceGetAttribute(&value, which, device), "its attributes");
      return value;
    };
    Machine machine{.name = cuda_device_name(0)};
    machine.architecture = cuda::architecture();
    machine.float8 = cuda::multiplies_float8();
    machine.driver = version([](cudaError_t& status) {
      int number = 0;
      status = cudaDriverGetVersion(&number);
      return number;
    });
    machine.runtime = version([](cudaError_t& status) {
      int number = 0;
      status = cudaRuntimeGetVersion(&number);
      return number;
    });
    machine.multiprocessors = attribute(cudaDevAttrMultiProcessorCount);
    machine.clock = 1e3 * attribute(cudaDevAttrClockRate);  // the attribute is in kHz
    machine.float_to_double = attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio);
    machine.l2_bytes = static_cast<std::size_t>(attribute(cudaDevAttrL2CacheSize));
    std::size_t all = 0;
    check(cudaMemGetInfo(&machine.free_bytes, &all), "its memory");
    return machine;
  }

  void* allocate(std::size_t bytes) override {
    void* memory = nullptr;
    check(cudaMalloc(&memory, bytes), "memory for a matrix");
    return memory;
  }
  void release(void* memory) noexcept override { ignore(cudaFree(memory)); }
  void upload(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice), "a copy to the GPU");
  }
  void download(void* to, const void* from, std::size_t bytes) override {
    check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost), "a kernel, or the copy of its result");
  }
  void fill(void* to, int byte, std::size_t bytes) override { check(cudaMemset(to, byte, bytes), "a fill"); }

  Rung gemm(Rung wanted, const GemmProblem& problem) override { return cuda::gemm(wanted, problem, nullptr); }
  void tiles(const TileBatch& tiles) override { cuda::tensor_tiles(tiles, nullptr); }
  YardstickLibrary& library(Yardstick which) override {
    std::unique_ptr<YardstickLibrary>& library = which == Yardstick::cublas ? cublas_ : cublas_lt_;
    if (!library) library = which == Yardstick::cublas ? open_cublas() : open_cublas_lt();
    return *library;
  }

  double milliseconds(const std::function<void()>& work) override {
    start_.record();
    work();
    stop_.record();
    check(cudaEventSynchronize(stop_.get()), "a kernel");
    float time = 0;
    check(cudaEventElapsedTime(&time, start_.get(), stop_.get()), "a time");
    return static_cast<double>(time);
  }

  double graph_seconds(const std::function<void()>& launch, int nodes) override {
    auto* const stream = static_cast<cudaStream_t>(cuda::stream());
    launch();  // the first launch of a kernel loads it, which a graph cannot hold
    check(cudaStreamSynchronize(stream), "a kernel");
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "a graph");
    for (int i = 0; i < nodes; ++i) launch();
    cudaGraph_t graph = nullptr;
    check(cudaStreamEndCapture(stream, &graph), "a graph");
    cudaGraphExec_t program = nullptr;
    check(cudaGraphInstantiate(&program, graph, 0), "a graph");
    const double seconds = seconds_of([&] { check(cudaGraphLaunch(program, stream), "a graph"); }, 200,
                                      [&] { check(cudaStreamSynchronize(stream), "a graph"); });
    ignore(cudaGraphExecDestroy(program));
    ignore(cudaGraphDestroy(graph));
    return seconds;
  }

 private:
  std::unique_ptr<YardstickLibrary> cublas_, cublas_lt_;
  Event start_, stop_;
};

}  // namespace

std::unique_ptr<Executor> real_executor() {
  if (cuda_device_count() == 0) {
    throw MissingError(concat("there is no NVIDIA GPU to measure: ", why_no_cuda_device(),
                              "; TINYMP_EMULATE=1 before the command runs the kernels on the CPU"));
  }
  return std::make_unique<Real>();
}

}  // namespace tinymp::kernels::bench
