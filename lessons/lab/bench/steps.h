#pragma once

#include <kernels/profile.h>
#include <lessons/lab/bench/cpu_gemm.h>
#include <lessons/lab/bench/step_models.h>

/// Training steps a second on this CPU, beside PyTorch.
namespace tinymp::kernels::bench {

struct StepRow {
  const StepModel* model;
  const StepRecipe* recipe;
  Timing ours{};             ///< seconds of our step
  Timing pytorch{};          ///< in the same format; FP16 and BF16 by autocast
  Timing pytorch_fp32{};     ///< FP32, from the same race
  std::string no_pytorch{};  ///< why PyTorch was not timed
  double of_fp32 = 0;        ///< this time / our FP32 time
};

struct StepsReport {
  nlohmann::ordered_json pytorch{};
  std::vector<StepRow> rows{};

  nlohmann::ordered_json json() const;
  report::Table table() const;
  std::string notes() const;
};

/// Checks that PyTorch's model has as many parameters as ours. Then times all recipes of a model in one race.
StepsReport bench_steps(PyTorch& pytorch, std::span<const StepModel* const> models, const RaceRules& rules,
                        const Progress& progress);

/// The time of a step, kernel by kernel.
struct StepProfile {
  const StepModel* model;
  const StepRecipe* recipe;
  int steps = 0;
  double seconds = 0;                ///< of all these steps
  std::vector<ProfileLine> lines{};  ///< of all these steps

  nlohmann::ordered_json json() const;
  report::Table table() const;  ///< kernels, the most expensive first, then the time between them
};
/// Profiles as many steps as fill `seconds`, at least one, after two that do not count.
StepProfile profile_steps(const StepModel& model, const StepRecipe& recipe, double seconds);

}  // namespace tinymp::kernels::bench
