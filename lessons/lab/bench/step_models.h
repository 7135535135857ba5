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

struct StepModel;
using ModelMaker = std::unique_ptr<nn::Model> (*)(const StepModel&, const Recipe&, Rng&);
using OptimizerMaker = std::unique_ptr<Optimizer> (*)(std::vector<Tensor>, const Recipe&);

/// pytorch.py has the same model under the same name.
struct StepModel {
  const char* name;            ///< "mlp"
  const char* what;            ///< "MLP 784-128-10"
  std::int64_t batch, values;  ///< images a batch, values an image
  train::Task task;
  ModelMaker model;
  OptimizerMaker optimizer;
  /// Above 0: no images. A model of so many words, `width` wide, reads `batch` texts of `values` words.
  std::int64_t words = 0, width = 0;
};
std::span<const StepModel> step_models();
/// For GPUs; a step of the first three takes a CPU seconds: an MLP with large products, the LSTM of lesson 11, a decoder;
/// an MLP with batch norm, and a deep one of residual blocks.
std::span<const StepModel> gpu_step_models();

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
  /// Images and labels, or the words of texts and those that come next.
  struct Shown {
    data::Batch batch;
    std::optional<Indices> words{};
  };
  static std::vector<Shown> batches_of(const StepModel& model, Device device);
  Tensor loss_of(const Shown& shown) const;
  void show(const Shown& next);  ///< copies it to where the graph reads it
  void step_on(const Shown& shown);

  train::Task task_;
  std::int64_t length_;  ///< words a text
  Device device_;
  std::unique_ptr<nn::Model> model_;
  std::unique_ptr<Optimizer> optimizer_;
  LossScaler scaler_;
  Float8Products products_;
  std::vector<Shown> batches_;
  std::size_t taken_ = 0;
  Shown shown_;  ///< what the graph reads
  train::StepRecords records_;
  PrivatePool pool_;
  std::optional<Graph> graph_;
};

}  // namespace tinymp::kernels::bench
