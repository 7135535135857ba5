#pragma once

#include <lessons/lab/classroom/judge.h>
#include <cstdint>
#include <vector>

/// The oracle of exercise 4.1: matrices in double, whole numbers in them.
namespace tinymp::exercise {

using Values = std::vector<double>;

/// Whole numbers from -4 to 4, none 0, without a pattern that a transposition would keep.
inline Values fixed(std::int64_t n, std::uint32_t seed) {
  Values values;
  for (std::int64_t i = 0; i < n; ++i) {
    seed = seed * 1664525 + 1013904223;
    const int size = 1 + static_cast<int>(seed >> 20) % 4;
    values.push_back(seed >> 31 != 0 ? -size : size);
  }
  return values;
}

inline Values drawn(Judge& judge, std::int64_t n) {
  Values values;
  for (std::int64_t i = 0; i < n; ++i) {
    const auto size = static_cast<double>(1 + judge.draw_below(4));
    values.push_back(judge.draw_below(2) != 0 ? -size : size);
  }
  return values;
}

/// A matrix of the oracle.
struct Matrix {
  std::int64_t rows, columns;
  Values values;
  double operator()(std::int64_t r, std::int64_t c) const {
    return values[static_cast<std::size_t>(r * columns + c)];
  }
  Matrix transposed() const {
    Matrix t{columns, rows, {}};
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r) t.values.push_back((*this)(r, c));
    return t;
  }
};

inline Matrix times(const Matrix& a, const Matrix& b) {
  Matrix c{a.rows, b.columns, {}};
  for (std::int64_t r = 0; r < a.rows; ++r) {
    for (std::int64_t k = 0; k < b.columns; ++k) {
      double sum = 0;
      for (std::int64_t i = 0; i < a.columns; ++i) sum += a(r, i) * b(i, k);
      c.values.push_back(sum);
    }
  }
  return c;
}

inline Matrix divided(Matrix a, std::int64_t by) {
  for (double& v : a.values) v /= static_cast<double>(by);
  return a;
}

/// x and y are the same matrix of numbers, NaN for NaN.
inline bool same(const Values& x, const Values& y) {
  if (x.size() != y.size()) return false;
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != y[i] && !(x[i] != x[i] && y[i] != y[i])) return false;
  return true;
}

}  // namespace tinymp::exercise
