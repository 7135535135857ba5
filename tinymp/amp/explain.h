#pragma once

#include <tinymp/autograd/tape.h>
#include <functional>
#include <string>
#include <vector>

/// Lists every op that a program computes, in order, with its formats. The casts of autocast are in the list.
///
///   explain([&] { const Autocast region(DType::f16); return cross_entropy(model(images), labels); })
namespace tinymp {

struct ExplainedOp {
  /// The name of the op, such as "linear". Some ops have parts. Each part is an entry of its own, before the
  /// op: first "batch_norm: mean", then "batch_norm".
  std::string op;
  std::string names{};      ///< the named tensors among the inputs: "layer 1 weight, layer 1 bias"
  std::vector<DType> in{};  ///< the format of each input
  DType out = DType::f32;
  std::optional<DType> sums{};  ///< the format of the running sum, for ops that have one
  Shape shape{};                ///< the shape of the result
  std::int64_t bytes = 0;       ///< the size of the result; 0 when it shares the memory of an input
};

/// Runs `program` once under a new tape. `name` returns the name of a parameter and "" for other tensors.
std::vector<ExplainedOp> explain(const std::function<Tensor()>& program,
                                 const std::function<std::string(const Tensor&)>& name = {});

}  // namespace tinymp
