#pragma once

#include <tinymp/ops/ops.h>  // what a model is written with
#include <tinymp/tensor/tensor.h>
#include <tinymp/tensor/texts.h>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace tinymp {

/// Counts how often any thread gave parameters new values. Optimizers and copy_parameters() report it;
/// autocast compares the count to know when its cached copies are stale.
void parameters_changed();
std::uint64_t parameter_changes();

namespace nn {

/// A weight, a bias, or another tensor that an optimizer moves. The name has the layer, then the tensor of
/// the layer: "layer 2 weight". Logs and reports use it.
struct Parameter {
  std::string name;
  Tensor value;
};

/// Returns the tensors without the names, as optimizers take them.
std::vector<Tensor> tensors(const std::vector<Parameter>& parameters);

/// Adds the parameters of further layers at the end of `list`.
void append(std::vector<Parameter>& list, std::initializer_list<std::vector<Parameter>> layers);

/// The base of all models. It has named parameters, for optimizers, copies and reports.
class Module {
 public:
  virtual ~Module() = default;
  /// Every weight and bias, in a fixed order. No two have the same name.
  virtual std::vector<Parameter> parameters() const = 0;
  /// Other tensors that training changes, in a fixed order: the running averages of batch norm, for example.
  virtual std::vector<Tensor> buffers() const { return {}; }
  /// The layer that makes the output, as in Parameter::name; "": that of the last matrix.
  virtual std::string output_layer() const { return {}; }
  virtual std::string name() const = 0;  ///< "mlp 784-64-10"
};

/// The base of all models that train::run trains. A model of images takes FP32 images (B,784) and casts them to its own
/// format first. A model of texts reads tokens. Each throws Error for the other.
class Model : public Module {
 public:
  virtual Tensor operator()(const Tensor& images) const = 0;
  /// (A,V) logits for each token that is asked for, over the V tokens that the model knows.
  virtual Tensor read(const Texts& texts) const;
  /// The blocks that it runs by run_blocks() (segments.h), which may be recomputed; 0: none.
  virtual std::int64_t blocks() const { return 0; }
};

/// Finds the name of a parameter by its tensor; "" for any other tensor.
std::function<std::string(const Tensor&)> names_in(const Module& model);

/// Moves parameters and buffers to a device. Throws Error when an optimizer owns the parameters already.
void move_to(const Module& model, Device device);

/// Copies the values of one model, buffers too, into another and rounds them to its format. Fine-tuning and
/// the FP32 shadow use it. Throws Error when the models' shapes differ, and
/// when an optimizer owns `to` already.
void copy_parameters(const Module& from, const Module& to);

}  // namespace nn
}  // namespace tinymp
