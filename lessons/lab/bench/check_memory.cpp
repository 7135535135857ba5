#include <fmt/format.h>
#include <kernels/kernels.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gpu_check.h>
#include <tinymp/ops/ops.h>
#include <tinymp/tensor/device_value.h>
#include <algorithm>
#include <chrono>
#include <functional>

// The speed of kernels that read and write each value once is that of the memory, so a copy is the yardstick.
namespace tinymp::lab::gpu_check {
namespace {

struct Timed {
  const char* name;
  double bytes;  ///< bytes read and written
  std::function<void()> run;
};

/// Seconds of one call: the median of several rounds of launches. Each round is waited for once.
double seconds_of(const std::function<void()>& run, const DeviceValue<float>& barrier, int launches) {
  using clock = std::chrono::steady_clock;
  run();
  static_cast<void>(barrier.read());
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

/// n values in each of three formats, and the kernels that run on them.
struct Arrays {
  explicit Arrays(std::int64_t n)
      : f32(make(n, DType::f32)),
        g32(make(n, DType::f32)),
        h32(make(n, DType::f32)),
        f16(make(n, DType::f16)),
        g16(make(n, DType::f16)),
        h16(make(n, DType::f16)) {}
  static Tensor make(std::int64_t n, DType dtype) {
    Tensor x({n / 1024, 1024}, dtype, Device::cuda);
    kernels::fill(x.view(), 0.5);
    return x;
  }
  Tensor f32, g32, h32, f16, g16, h16;
};

std::vector<Timed> kernels_of(const Arrays& x, double n) {
  const Tensor scalar(Shape{}, DType::f32, Device::cuda), row({1024}, DType::f16, Device::cuda);
  kernels::fill(row.view(), 0.25);
  const DeviceValue<ScaleState> scale(Device::cuda, {});
  const DeviceValue<kernels::GradientCounts> found(Device::cuda, {});
  const DeviceValue<float> factor(Device::cuda, 1);
  const DeviceValue<kernels::StepState> state(Device::cuda, {.steps = 1, .lr = 1e-3f});
  const DeviceValue<kernels::StepOutcome> report(Device::cuda);
  const DeviceValue<kernels::PassCounts> counts(Device::cuda, kernels::PassCounts());
  const kernels::UpdateRule adam = kernels::adam_rule<false>(0.9, 0.999, 1e-8f, 0);
  const kernels::UpdateArenas arenas{x.f16.view(), x.f32.view(), x.g16.view(), {x.g32.view(), x.h32.view()}};
  using kernels::Unary;
  return {
      {"cast f32 to f16", 6 * n, [=] { kernels::cast(x.f32.view(), x.f16.view()); }},
      {"cast f16 to f32", 6 * n, [=] { kernels::cast(x.f16.view(), x.f32.view()); }},
      {"add f32", 12 * n, [=] { kernels::add(x.f32.view(), x.g32.view(), x.h32.view()); }},
      {"add f16", 6 * n, [=] { kernels::add(x.f16.view(), x.g16.view(), x.h16.view()); }},
      {"relu f16", 4 * n, [=] { kernels::unary(Unary::relu, x.f16.view(), x.g16.view()); }},
      {"sigmoid f16", 4 * n, [=] { kernels::unary(Unary::sigmoid, x.f16.view(), x.g16.view()); }},
      {"bias f16", 4 * n, [=] { kernels::add_bias(x.f16.view(), row.view(), x.g16.view()); }},
      {"column sums f16", 2 * n, [=] { kernels::column_sums(x.f16.view(), row.view()); }},
      {"sum f32", 4 * n, [=] { kernels::sum(x.f32.view(), 1, scalar.view()); }},
      {"unscale and check f16", 2 * n,
       [=] { kernels::unscale(x.g16.view(), scale.cell(), found.cell(), factor.cell()); }},
      {"Adam, f32 master of f16", 28 * n,  // reads g, master, two moments; writes weight, master, moments
       [=] {
         kernels::take_step(adam, arenas, factor.cell(), found.cell(), false, state.cell(), report.cell(),
                            counts.cell());
       }},
  };
}

/// exp, log, sigmoid and tanh of floats are computed in double (tinymp/numeric/exp_log.h), so that every machine has the
/// same bits. GPUs for games and inference have few units for that.
std::string on_doubles(int float_to_double) {
  if (float_to_double <= 2) return "";
  return fmt::format(
      "; sigmoid computes in double, for which this GPU takes {} times as long as for float, so it is not "
      "bound by memory",
      float_to_double);
}

}  // namespace

Finding check_memory(const Setting& setting) {
  const std::int64_t n = setting.emulated ? 1 << 12 : 1 << 26;  // 256 MB in FP32: more than any cache holds
  const int launches = setting.emulated ? 1 : 20;
  const Arrays x(n);
  const DeviceValue<float> barrier(Device::cuda, 0);
  const double values = static_cast<double>(n);
  const double copied =
      8 * values / seconds_of([&] { kernels::cast(x.f32.view(), x.g32.view()); }, barrier, launches);

  Finding finding{.table = {{"kernel", "GB/s", "share of a copy"}}};
  finding.table.push_back({"copy f32", fmt::format("{:.0f}", copied / 1e9), "1.00"});
  keep(finding, setting, {{"kernel", "copy f32"}, {"bytes_per_second", copied}, {"share", 1.0}});
  double lowest = 1e9;
  for (const Timed& kernel : kernels_of(x, values)) {
    const double rate = kernel.bytes / seconds_of(kernel.run, barrier, launches);
    lowest = std::min(lowest, rate / copied);
    finding.table.push_back(
        {kernel.name, fmt::format("{:.0f}", rate / 1e9), fmt::format("{:.2f}", rate / copied)});
    keep(finding, setting, {{"kernel", kernel.name}, {"bytes_per_second", rate}, {"share", rate / copied}});
  }
  finding.summary = setting.emulated
                        ? "every kernel ran; the times of an emulation mean nothing"
                        : fmt::format("of the speed of a copy ({:.0f} GB/s) the slowest has {:.0f} %",
                                      copied / 1e9, 100 * lowest);
  finding.summary += on_doubles(kernels::bench::executor()->machine().float_to_double);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
