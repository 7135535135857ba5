#include <fmt/format.h>
#include <kernels/kernels.h>
#include <lessons/lab/bench/executor.h>
#include <lessons/lab/bench/gpu_check.h>
#include <lessons/lab/bench/memory_kernels.h>
#include <tinymp/base/error.h>
#include <tinymp/tensor/tensor.h>
#include <algorithm>

// The speed of kernels that read and write each value once is that of the memory, so a copy is the yardstick.
namespace tinymp::lab::gpu_check {
namespace {

/// exp, log, sigmoid and tanh of floats are computed in double (tinymp/numeric/exp_log.h), so that every machine has the
/// same bits. GPUs for games and inference have few units for that. tests/cuda/machine_code.txt says what it costs on an H200.
std::string on_doubles(int float_to_double) {
  const std::string text = "; sigmoid computes in double, so it is not bound by memory";
  if (float_to_double <= 2) return text;
  return text + fmt::format(": this GPU takes {} times as long for a double as for a float", float_to_double);
}

using Json = nlohmann::ordered_json;

/// One size: the copy, then each kernel beside it.
class Measured {
 public:
  Measured(Finding& finding, const Setting& setting, std::int64_t values)
      : finding_(&finding), setting_(&setting), values_(values) {}

  void run() {
    {
      const Tensor from({values_ / 1024, 1024}, DType::f32, Device::cuda), to = Tensor::like(from);
      kernels::fill(from.view(), 0.5);
      const double bytes = 8 * static_cast<double>(values_);
      add({"copy f32", bytes, [&] { kernels::cast(from.view(), to.view()); }});
    }
    for (const auto list : {elementwise_kernels, row_kernels})
      for (const MovingKernel& kernel : list(values_)) add(kernel);
    add_claim();
  }
  double copied() const { return copied_; }  ///< bytes a second
  double lowest() const { return lowest_; }  ///< share of a copy
  double gain() const { return gain_; }      ///< of FP16, bound by the memory

 private:
  /// A kernel that fails leaves a row, and so do the others.
  void add(const MovingKernel& kernel) try {
    const double seconds = seconds_on_gpu(*setting_, kernel.run), rate = kernel.bytes / seconds;
    if (copied_ == 0) copied_ = rate;
    lowest_ = std::min(lowest_, rate / copied_);
    if (kernel.name == "add f32") of_f32_ = seconds;
    if (kernel.name == "add f16") of_f16_ = seconds;
    finding_->table.push_back({kernel.name, concat(values_), fmt::format("{:.0f}", rate / 1e9),
                               fmt::format("{:.2f}", rate / copied_)});
    keep(*finding_, *setting_,
         {{"kernel", kernel.name},
          {"values", values_},
          {"seconds", seconds},
          {"bytes_per_second", rate},
          {"share", rate / copied_}});
  } catch (const std::exception& error) {
    finding_->state = State::bad;
    finding_->table.push_back({kernel.name, concat(values_), "FAILED", error.what()});
    keep(*finding_, *setting_, {{"kernel", kernel.name}, {"values", values_}, {"fault", error.what()}});
  }

  /// The papers say that FP16 is 2 to 6 times as fast as FP32. Here memory bounds both.
  void add_claim() {
    if (of_f16_ == 0) return;  // it failed
    gain_ = of_f32_ / of_f16_;
    finding_->table.push_back({"FP16 beside FP32, bandwidth-bound: add", concat(values_),
                               fmt::format("{:.2f} times as fast", gain_), "-"});
    keep(*finding_, *setting_,
         {{"claim", "bandwidth-bound: FP32 time / FP16 time of add"}, {"values", values_}, {"gain", gain_}});
  }

  Finding* finding_;
  const Setting* setting_;
  std::int64_t values_;
  double copied_ = 0, lowest_ = 1, gain_ = 0, of_f32_ = 0, of_f16_ = 0;
};

}  // namespace

Finding check_memory(const Setting& setting) {
  Finding finding{.table = {{"kernel", "values", "GB/s", "share of a copy"}}};
  // The first fits into the L2 cache of some GPUs. The second is 256 MB in FP32: more than any cache holds.
  const std::int64_t sizes[] = {setting.emulated ? 1 << 12 : 1 << 22, setting.emulated ? 1 << 13 : 1 << 26};
  double copied = 0, lowest = 0, gain = 0;
  for (const std::int64_t size : sizes) {
    Measured measured(finding, setting, size);
    measured.run();
    copied = measured.copied(), lowest = measured.lowest(), gain = measured.gain();
  }
  finding.summary =
      setting.emulated
          ? "every kernel ran; the times of an emulation mean nothing"
          : fmt::format(
                "at {} values, of the speed of a copy ({:.0f} GB/s) the slowest has {:.0f} %; bound by "
                "memory, FP16 is {:.2f} times as fast as FP32",
                sizes[1], copied / 1e9, 100 * lowest, gain);
  finding.summary += on_doubles(kernels::bench::executor()->machine().float_to_double);
  return finding;
}

}  // namespace tinymp::lab::gpu_check
