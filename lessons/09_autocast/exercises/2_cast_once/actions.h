#pragma once

#include <tinymp/numeric/dtype.h>
#include <cstdint>

/// What exercise 9.2 is asked: actions, one after another, or the gradients of a weight.
namespace tinymp::exercise {

/// actions: a list of Action; an Answer to each. gradient: a weight, and by what each of its uses multiplies
/// it; two rounds, a Round and a text for each, and how many copies were made.
enum class Asked : std::uint64_t { actions, gradient };

/// Tensors have numbers: 0 is the first one that was made.
enum class What : std::uint32_t {
  region,      ///< begins, of a format
  end_region,  ///< the innermost
  tape,        ///< begins
  end_tape,    ///< the innermost
  parameter,   ///< a tensor, of a value and a format
  data,        ///< likewise
  activation,  ///< a tensor: twice tensor `of`
  product,     ///< what matmul gets for tensor `of`
  exp,         ///< what exp gets for it
  passing,     ///< what matmul gets for a new parameter, which is gone then
  step,        ///< an optimizer's: tensor `of` has another value
};

struct Action {
  What what;
  std::uint32_t of = 0;
  float value = 0;
  DType format = DType::f32;
};

struct Answer {
  std::uint64_t id;     ///< of the tensor that came
  std::int64_t made;    ///< copies so far, in the innermost region
  std::int32_t format;  ///< -1: no tensor came
  float value;
};

struct Round {
  std::int32_t wants_gradient, threw;
  std::int32_t format;  ///< of the gradient; -1: there is none
  float gradient;
};

}  // namespace tinymp::exercise
