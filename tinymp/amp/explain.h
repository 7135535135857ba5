#pragma once

#include <tinymp/autograd/tape.h>
#include <functional>
#include <string>
#include <vector>

/// Lists every op that a program computes, in order, with its formats. The casts of autocast are in the list, and so is
/// each tensor that becomes FP8 on its way into a product.
///
///   explain([&] { const Autocast region(DType::f16); return cross_entropy(model(images), labels); })
namespace tinymp {

struct ExplainedOp {
  /// The name of the op, such as "linear". Some ops have parts. Each part is an entry of its own, before the
  /// op: first "batch_norm: mean", then "batch_norm". A tensor that becomes FP8 for the op is a "quantize".
  std::string op;
  /// The named tensors among the inputs: "layer 1 weight, layer 1 bias". Of a "quantize" what it makes: "layer 1
  /// activations", "layer 1 errors".
  std::string names{};
  std::vector<DType> in{};  ///< the format of each input
  DType out = DType::f32;
  std::optional<DType> sums{};         ///< the format of the running sum, for ops that have one
  Shape shape{};                       ///< the shape of the result
  std::int64_t bytes = 0;              ///< the size of the result; 0 when it shares the memory of an input
  std::optional<Rounding> rounding{};  ///< to FP8; empty for ops
  std::optional<float> scale{};        ///< what the values were multiplied with; empty: 1, or no FP8
};

/// Runs `program` once under a new tape. `name` returns the name of a parameter and "" for other tensors.
std::vector<ExplainedOp> explain(const std::function<Tensor()>& program,
                                 const std::function<std::string(const Tensor&)>& name = {});

/// The same, and then backward from the scalar that the program computes: what becomes FP8 there. The gradients stay.
std::vector<ExplainedOp> explain_step(const std::function<Tensor()>& program,
                                      const std::function<std::string(const Tensor&)>& name = {});

}  // namespace tinymp
