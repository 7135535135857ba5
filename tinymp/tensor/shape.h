#pragma once

#include <tinymp/base/error.h>
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>

namespace tinymp {

/// The extent of each dimension, outermost first; at most four, (B,H,W,C). A shape without dimensions is a
/// scalar: one value.
class Shape {
 public:
  static constexpr int max_rank = 4;
  /// 2^63 bytes of f64, so that sizes never overflow.
  static constexpr std::int64_t max_size = std::int64_t{1} << 60;

  constexpr Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : Shape(std::span(extents.begin(), extents.size())) {}
  explicit Shape(std::span<const std::int64_t> extents) : rank_(static_cast<int>(extents.size())) {
    expect(extents.size() <= max_rank, "a tensor has at most ", max_rank, " dimensions, not ",
           extents.size());
    std::copy(extents.begin(), extents.end(), extents_.begin());
    std::int64_t product = 1;
    for (const std::int64_t extent : extents) {
      expect(extent >= 0, "a dimension cannot be ", extent);
      expect(extent <= max_size / product, "too many values for any memory: one dimension of the shape is ",
             extent);
      product *= std::max<std::int64_t>(extent, 1);
    }
  }

  constexpr int rank() const { return rank_; }
  constexpr std::int64_t operator[](int i) const { return extents_[static_cast<std::size_t>(i)]; }
  constexpr const std::int64_t* begin() const { return extents_.data(); }
  constexpr const std::int64_t* end() const { return extents_.data() + rank_; }

  /// The number of values: the product of the extents.
  constexpr std::int64_t size() const {
    std::int64_t product = 1;
    for (const std::int64_t extent : *this) product *= extent;
    return product;
  }

  /// The shape as a matrix: the last dimension is a row, all others count rows.
  constexpr std::int64_t cols() const {
    return rank_ == 0 ? 1 : extents_[static_cast<std::size_t>(rank_ - 1)];
  }
  constexpr std::int64_t rows() const { return cols() == 0 ? 0 : size() / cols(); }

  friend constexpr bool operator==(const Shape& a, const Shape& b) {
    return a.rank_ == b.rank_ && std::equal(a.begin(), a.end(), b.begin());
  }

 private:
  int rank_ = 0;
  std::array<std::int64_t, max_rank> extents_{};
};

/// (64, 784)
inline std::ostream& operator<<(std::ostream& out, const Shape& shape) {
  out << '(';
  for (int i = 0; i < shape.rank(); ++i) out << (i ? ", " : "") << shape[i];
  return out << ')';
}

}  // namespace tinymp
