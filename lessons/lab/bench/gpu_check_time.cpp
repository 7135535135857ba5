#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/tensor/device_value.h>
#include <algorithm>
#include <chrono>

// The time of a kernel that is called as the library calls it.
namespace tinymp::lab::gpu_check {

double seconds_on_gpu(const Setting& setting, const std::function<void()>& run) {
  const double most = setting.emulated ? 1 : 1000;
  const DeviceValue<float> barrier(Device::cuda, 0);
  using clock = std::chrono::steady_clock;
  run();
  static_cast<void>(barrier.read());
  const clock::time_point once = clock::now();
  run();
  static_cast<void>(barrier.read());
  const double first = std::chrono::duration<double>(clock::now() - once).count();
  const int launches = static_cast<int>(std::clamp(0.1 / std::max(first, 1e-9), 1.0, most));
  std::vector<double> rounds;
  for (int round = 0; round < 5; ++round) {
    const clock::time_point start = clock::now();
    for (int i = 0; i < launches; ++i) run();
    static_cast<void>(barrier.read());  // everything before it has ended then
    rounds.push_back(std::chrono::duration<double>(clock::now() - start).count() / launches);
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace tinymp::lab::gpu_check
