#pragma once

#include <kernels/graph.h>
#include <tinymp/amp/float8_products.h>
#include <tinymp/amp/loss_scaler.h>
#include <tinymp/nn/module.h>
#include <tinymp/optim/optimizer.h>
#include <tinymp/train/step.h>
#include <tinymp/train/task.h>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Whole training steps of the models that are measured.
namespace tinymp::kernels::bench {

using ModelMaker = std::unique_ptr<nn::Model> (*)(const Recipe&, Rng&);
using OptimizerMaker = std::unique_ptr<Optimizer> (*)(std::vector<Tensor>, const Recipe&);

/// pytorch.py has the same model under the same name.
struct StepModel {
  const char* name;            ///< "mlp"
  const char* what;            ///< "MLP 784-128-10"
  std::int64_t batch, values;  ///< images a batch, values an image
  train::Task task;
  ModelMaker model;
  OptimizerMaker optimizer;
};
std::span<const StepModel> step_models();
const StepModel& wide_step_model();  ///< for GPUs: large products, which a CPU takes seconds for

struct StepRecipe {
  const char* name;  ///< "f16", as pytorch.py calls it; it has no FP8
  Recipe recipe;
};
/// FP32; FP16 under dynamic loss scaling; BF16; all products in E5M2, rounded to nearest or stochastically. FP16 and BF16
/// have FP32 masters, FP8 has FP16 ones.
std::span<const StepRecipe> step_recipes();

/// A model, its optimizer, its scaler, and batches in the memory of the device.
class Training {
 public:
  Training(const StepModel& model, const Recipe& recipe, Device device = Device::cpu);

  void step();    ///< forward, loss, backward, unscale, update; a GPU is not waited for
  void record();  ///< makes a graph of a step
  /// Copies the next batch to where the graph reads it, and launches. Throws Error before record().
  void graph_step();
  void wait() const;  ///< returns when the device has done all steps
  std::int64_t parameters() const;
  double loss();  ///< loss of the first batch with the present weights

 private:
  void step_on(const data::Batch& batch);

  train::Task task_;
  Device device_;
  std::unique_ptr<nn::Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_;
  Float8Products products_;
  std::vector<data::Batch> batches_;
  std::size_t taken_ = 0;
  data::Batch shown_;  ///< what the graph reads
  train::StepRecords records_;
  PrivatePool pool_;
  std::optional<Graph> graph_;
};

}  // namespace tinymp::kernels::bench
