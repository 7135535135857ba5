#pragma once

#include <cstdint>

/// The request and the reply of exercise 15.1: one gradient, of which each rank has its own sum.
namespace tinymp::exercise {

/// Behind it in the request: what each rank has, a list of floats.
struct Setting {
  std::int32_t divide;          ///< as in dist::Divide
  std::int32_t gradient, wire;  ///< as in DType: the format before, and on the wire
  std::int32_t ranks;
  double micro_batches;  ///< of all ranks
};

/// Behind it in the reply: what each rank puts on the wire, a list of floats.
struct Answer {
  double factor, divisor;
};

}  // namespace tinymp::exercise
