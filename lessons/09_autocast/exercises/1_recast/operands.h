#pragma once

#include <tinymp/numeric/dtype.h>
#include <cstdint>

/// What exercise 9.1 is asked, and what it answers. Asked::mixtures: the region's format, whether it has
/// exceptions, the op, and lists of operands; for each list come the tensors that the op gets, each as a
/// format and its numbers. Asked::parameter: the value of a weight; the answer is Uses.
namespace tinymp::exercise {

enum class Asked : std::uint64_t { mixtures, parameter };

struct Operand {
  DType format;
  float values[2];
};

constexpr int no_format = -1;  ///< of a tensor that is empty

struct Uses {
  std::int64_t copies, are_one;
  float value;
};

}  // namespace tinymp::exercise
