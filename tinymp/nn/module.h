#pragma once

#include <tinymp/tensor/tensor.h>
#include <string>
#include <vector>

namespace tinymp::nn {

/// What every model has, whatever it is given: parameters and their names, for optimizers, copies and
/// reports.
class Module {
 public:
  virtual ~Module() = default;
  /// Every weight and bias, in a fixed order.
  virtual std::vector<Tensor> parameters() const = 0;
  /// What reports call them, in the same order: a layer and which of its tensors, "layer 2 weight". As it
  /// stands here it counts the weights, and calls what follows a weight its bias.
  virtual std::vector<std::string> parameter_names() const;
  /// What training leaves behind besides them, in a fixed order: the running averages of batch norm.
  virtual std::vector<Tensor> buffers() const { return {}; }
  virtual std::string name() const = 0;  ///< "mlp 784-64-10"
};

/// Moves parameters and buffers. Throws Error when an optimizer has the parameters already.
void move_to(const Module& model, Device device);

/// The values of one model, buffers too, rounded to the other's format: how fine-tuning starts, and how an
/// FP32 shadow follows. Throws Error when the models' shapes differ, and when `to` has an optimizer already.
void copy_parameters(const Module& from, const Module& to);

}  // namespace tinymp::nn
