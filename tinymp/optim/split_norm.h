#pragma once

#include <tinymp/tensor/tensor.h>
#include <cstdint>
#include <span>
#include <vector>

/// The norm of gradients that several processes have consecutive parts of, with the bits of clip_norm() in one process. There
/// the squares are added in chunks of 1024 elements, and the ends of a part lie within a chunk.
namespace tinymp {

/// The elements that a process has, of `all`.
struct ElementRange {
  std::int64_t begin, end;
};

/// The squares of factor x, where x has the elements `own`: the sum of each chunk that lies within, and the squares of the other
/// elements, in their order.
std::vector<double> squares_of(const Tensor& x, float factor, const ElementRange& own, std::int64_t all);
/// The sum of all squares, from what each process has: of[r] are the squares of the elements ranges[r].
double sum_of_squares(std::span<const std::vector<double>> of, std::span<const ElementRange> ranges,
                      std::int64_t all);

}  // namespace tinymp
