#include <fmt/format.h>
#include <kernels/kernels.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/race.h>
#include <tinymp/base/error.h>
#include <tinymp/tensor/device_value.h>
#include <tinymp/tensor/tensor.h>
#include <functional>

// What a step of a small model waits for: launches, nodes of a graph, values read back, batches copied.
namespace tinymp::lab::gpu_check {
namespace {

namespace bench = kernels::bench;

constexpr std::size_t batch_bytes = 64 * 784 * sizeof(float);

struct Cost {
  std::string what;
  std::function<double()> seconds;
};

/// Calls `use` with each cost. What they need lives as long.
void for_each_cost(bench::Executor& executor, int runs, const std::function<void(const Cost&)>& use) {
  const Tensor one(Shape{}, DType::f32, Device::cuda);
  const Tensor batch({64, 784}, DType::f32, Device::cuda);
  const std::vector<char> images(batch_bytes);
  const DeviceValue<float> value(Device::cuda, 0);
  const auto launch = [&] { kernels::fill(one.view(), 1); };
  const auto read = [&] { static_cast<void>(value.read()); };
  const auto copy = [&] { allocator(Device::cuda).copy_in(batch.view().memory, images.data(), batch_bytes); };
  use({"a launch", [&] { return bench::seconds_of(launch, runs, read); }});
  use({"4 bytes read back", [&] { return bench::seconds_of(read, runs); }});
  use({"200 KB copied to the GPU", [&] { return bench::seconds_of(copy, runs, read); }});
  for (const int nodes : {10, 100})
    use({fmt::format("a launch of {} in a graph", nodes),
         [&] { return executor.graph_seconds(launch, nodes) / nodes; }});
}

}  // namespace

Finding check_launch(const Setting& setting) {
  const std::unique_ptr<bench::Executor> executor = bench::executor();
  Finding finding{.table = {{"what", "microseconds"}}};
  double launch = 0;
  for_each_cost(*executor, setting.emulated ? 2 : 1000, [&](const Cost& cost) {
    try {
      const double seconds = cost.seconds();
      if (seconds <= 0) return;  // there are no graphs
      if (launch == 0) launch = seconds;
      finding.table.push_back({cost.what, fmt::format("{:.2f}", 1e6 * seconds)});
      keep(finding, setting, {{"what", cost.what}, {"seconds", seconds}});
    } catch (const std::exception& error) {  // the others have figures of their own
      finding.state = State::bad;
      finding.table.push_back({cost.what, concat("FAILED: ", error.what())});
      keep(finding, setting, {{"what", cost.what}, {"fault", error.what()}});
    }
  });
  finding.summary = setting.emulated ? "everything ran; the times of an emulation mean nothing"
                                     : fmt::format("a launch takes {:.1f} microseconds", 1e6 * launch);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
