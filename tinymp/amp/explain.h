#pragma once

#include <tinymp/autograd/tape.h>
#include <functional>
#include <string>
#include <vector>

/// What a program computes in which format: every op of it, in order, autocast's casts among them.
///
///   explain([&] { const Autocast region(DType::f16); return cross_entropy(model(images), labels); })
namespace tinymp {

struct ExplainedOp {
  std::string op;           ///< "linear"; "batch_norm: mean" is a part of what follows
  std::string names{};      ///< the named tensors that go in: "layer 1 weight, layer 1 bias"
  std::vector<DType> in{};  ///< of each input
  DType out = DType::f32;
  std::optional<DType> sums{};  ///< of the running sum, where there is one
  Shape shape{};                ///< of the result
  std::int64_t bytes = 0;       ///< of the result; 0 where it shares the memory of an input
};

/// Runs `program` once, under a tape that it throws away. `name` tells what parameters are called.
std::vector<ExplainedOp> explain(const std::function<Tensor()>& program,
                                 const std::function<std::string(const Tensor&)>& name = {});

}  // namespace tinymp
