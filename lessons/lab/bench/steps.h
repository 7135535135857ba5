#pragma once

#include <kernels/profile.h>
#include <lessons/lab/bench/cpu_gemm.h>
#include <lessons/lab/bench/step_models.h>

/// Training steps a second, beside PyTorch.
namespace tinymp::kernels::bench {

/// A way in which PyTorch makes a step faster on a GPU.
struct PyTorchWay {
  std::string name;       ///< "compiled": torch.compile; "graph": the whole step as a CUDA graph
  Timing timing{};        ///< in the format of the row
  std::string why_not{};  ///< why it was not timed
};

/// Why a row in FP8 stands alone.
inline constexpr const char* no_eight_bits = "PyTorch itself has no training in FP8";

struct StepRow {
  const StepModel* model;
  const StepRecipe* recipe;
  Timing ours{};                   ///< seconds of our step
  Timing graph{};                  ///< of our step as a graph; on a GPU only
  Timing pytorch{};                ///< in the same format; FP16 and BF16 by autocast
  Timing pytorch_fp32{};           ///< FP32, from the same race
  std::string no_pytorch{};        ///< why PyTorch was not timed
  std::vector<PyTorchWay> ways{};  ///< on a GPU only
  double of_fp32 = 0;              ///< this time / our FP32 time
};

struct StepsReport {
  Device device = Device::cpu;
  nlohmann::ordered_json pytorch{};
  std::vector<StepRow> rows{};
  std::string fault{};  ///< of the first of our steps, or their graphs, that failed; the other rows stand

  nlohmann::ordered_json json() const;
  report::Table table() const;
  std::string notes() const;

 private:
  report::Table gpu_table() const;  ///< beside PyTorch's other ways
};

/// Checks that PyTorch's model has as many parameters as ours. Then times all recipes of a model in one race. Batches
/// lie in the memory of the device before the clock starts, ours and PyTorch's. torch.compile, which may take a minute for
/// a model, can be left out.
StepsReport bench_steps(PyTorch& pytorch, std::span<const StepModel* const> models, Device device,
                        const RaceRules& rules, const Progress& progress, bool compile = true);

/// The time of a step, kernel by kernel. On a GPU it is the time in which the CPU hands the kernels over.
struct StepProfile {
  const StepModel* model;
  const StepRecipe* recipe;
  Device device = Device::cpu;
  int steps = 0;
  double seconds = 0;                ///< of all these steps
  std::vector<ProfileLine> lines{};  ///< of all these steps

  nlohmann::ordered_json json() const;
  report::Table table() const;  ///< kernels, the most expensive first, then the time between them
};
/// Profiles as many steps as fill `seconds`, at least one, after two that do not count.
StepProfile profile_steps(const StepModel& model, const StepRecipe& recipe, Device device, double seconds);

}  // namespace tinymp::kernels::bench
