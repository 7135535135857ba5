#pragma once

#include <tinymp/base/host_device.h>
#include <tinymp/tensor/view.h>
#include <cstdint>

/// Where the matrices of attention lie, and what a row of it sees. One text for CPU and GPU.
namespace tinymp::kernels {

/// The matrices of a tensor, one for each head of each text, numbered text by text. In (B,T,H D) those of a text lie side
/// by side, (T,D) each; in (B,H,T,S) one after another, (T,S) each.
struct HeadMatrices {
  std::int64_t heads, rows, cols;
  std::int64_t ld;          ///< from one row to the next
  std::int64_t text, head;  ///< from one text, and from one head, to the next

  static HeadMatrices of(const View& x, std::int64_t heads) {
    const Shape& s = x.shape;
    if (s.rank() == 4) return {heads, s[2], s[3], s[3], heads * s[2] * s[3], s[2] * s[3]};
    return {heads, s[1], s[2] / heads, s[2], s[1] * s[2], s[2] / heads};
  }
  /// The place of the first value of a matrix.
  TINYMP_HD std::int64_t first_of(std::int64_t matrix) const {
    return matrix / heads * text + matrix % heads * head;
  }
};

/// What a row of (B,H,T,S) sees: the first so many of its S places. `lengths` lies where the rows do.
struct AttentionMask {
  std::int64_t steps = 0, rows_of_text = 0;  ///< T, H T
  bool causal = false;                       ///< row t sees the places 0 .. t
  const std::int32_t* lengths = nullptr;     ///< (B) of each text the places that are no padding; null: all

  TINYMP_HD std::int64_t seen_by(std::int64_t row, std::int64_t columns) const {
    std::int64_t seen = columns;
    if (causal && row % steps + 1 < seen) seen = row % steps + 1;
    if (lengths != nullptr && lengths[row / rows_of_text] < seen) seen = lengths[row / rows_of_text];
    return seen;
  }
};

}  // namespace tinymp::kernels
